/** Revoke a key at once. Source: specification 4.9. */
import { inTransaction } from '../../base/db/transaction.ts';
import type { BaseDeps } from '../../base/deps.ts';
import { Failure, invalidRequest } from '../../base/failure.ts';
import { lockTenant } from '../../base/tenants/tenants.sql.ts';
import type { Caller } from './api-key.ts';
import { findKey, hasOtherKey } from './keys.sql.ts';
import { markRevoked } from './working-key.sql.ts';

/**
 * Revoking the last working key of its kind would lock the tenant out, or stop its relays, so it has
 * to be confirmed. Two deletions of the last two keys at once take turns: one of them is refused.
 */
export async function revokeKey(
  deps: BaseDeps,
  caller: Caller,
  keyId: string,
  options: { stopServiceConfirmed: boolean },
): Promise<void> {
  if (keyId === caller.keyId) throw invalidRequest('a key cannot revoke itself');

  await inTransaction(deps.db, async (tx) => {
    // One change of a tenant's keys at a time: what one decides about the last key, no other may undo.
    await lockTenant(tx, caller.tenant);
    const key = await findKey(tx, caller.tenant, keyId);
    if (!key) throw new Failure('not_found');
    if (key.revokedAt) return;

    if (!options.stopServiceConfirmed && !(await hasOtherKey(tx, caller.tenant, key))) {
      throw new Failure('would_stop_service');
    }
    await markRevoked(tx, 'api_keys', caller.tenant, key.id);
  });
}
