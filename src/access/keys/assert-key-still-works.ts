/** Whoever is served for long is served only while the key stands that the call was made with. */
import { Failure } from '../../base/failure.ts';
import type { KeyInUse } from './keys.sql.ts';

/**
 * Fails as a new call would, with `invalid_api_key` or `tenant_not_active`. `key` is what a look-up of
 * the working key has just found.
 */
export function assertKeyStillWorks(key: Pick<KeyInUse, 'status'> | undefined): void {
  if (!key) throw new Failure('invalid_api_key');
  if (key.status === 'deleted') throw new Failure('tenant_not_active');
}
