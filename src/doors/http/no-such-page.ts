/** A cursor that no answer gave. */
import { type Failure, invalidRequest } from '../../base/failure.ts';

export function noSuchPage(): Failure {
  return invalidRequest('cursor must be one that an answer gave');
}
