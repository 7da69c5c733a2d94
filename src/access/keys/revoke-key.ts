/** Revoke a key at once. Source: specification 4.9. */
import { inTransaction } from '../../base/db/transaction.ts';
import { Failure, invalidRequest } from '../../base/failure.ts';
import { lockTenant } from '../../base/tenants/tenants.sql.ts';
import { appendEvents } from '../../events/append-events.sql.ts';
import type { EventDeps } from '../../events/event-deps.ts';
import type { Caller } from './api-key.ts';
import { keyRevoked } from './key-events.ts';
import { findKey, hasOtherKey } from './keys.sql.ts';
import { markRevoked } from './working-key.sql.ts';

/**
 * Revoking the last working key of a kind would lock out the tenant or stop its relays, so it must be
 * confirmed. Concurrent revocations of the last two keys run one after the other: the second is refused.
 */
export async function revokeKey(
  deps: EventDeps,
  caller: Caller,
  keyId: string,
  options: { stopServiceConfirmed: boolean },
): Promise<void> {
  if (keyId === caller.keyId) throw invalidRequest('a key cannot revoke itself');

  await inTransaction(deps.db, async (tx) => {
    // Serialize changes to a tenant's keys, so that no other one revokes what `hasOtherKey()` found.
    await lockTenant(tx, caller.tenant);
    const key = await findKey(tx, caller.tenant, keyId);
    if (!key) throw new Failure('not_found');
    if (key.revokedAt) return;

    if (!options.stopServiceConfirmed && !(await hasOtherKey(tx, caller.tenant, key))) {
      throw new Failure('would_stop_service');
    }
    await markRevoked(tx, 'api_keys', caller.tenant, key.id);
    const revoked = (await findKey(tx, caller.tenant, key.id))!;
    await appendEvents(tx, caller.tenant, [keyRevoked(revoked)]);
  });
  deps.events.wake(caller.tenant);
}
