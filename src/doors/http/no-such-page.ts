/** A cursor that no answer gave. */
import { type Failure, invalidField } from '../../base/failure.ts';

export function noSuchPage(): Failure {
  return invalidField('cursor', 'must be one that an answer gave');
}
