/** Long-lived calls end when their API key stops working. */
import { Failure } from '../../base/failure.ts';
import type { KeyInUse } from './keys.sql.ts';

/**
 * Fails as a new call would, with `invalid_api_key` or `tenant_not_active`. `key` is the result of a fresh
 * look-up.
 */
export function assertKeyStillWorks(key: Pick<KeyInUse, 'status' | 'isWorking'> | undefined): void {
  if (!key?.isWorking) throw new Failure('invalid_api_key');
  if (key.status === 'deleted') throw new Failure('tenant_not_active');
}
