/**
 * Removes the devices of a revoked device credential once more, for those that entered meanwhile.
 *
 * A join authenticates before it enters, and the listener removes the devices that it finds. A join that commits after the
 * listener would stay in its room until its token expires.
 */
import { inTransaction } from '../../base/db/transaction.ts';
import type { EventDeps } from '../../events/event-deps.ts';
import { removeKeys } from './remove-keys.ts';
import { findRevokedKeysInUse } from './revoked-keys.sql.ts';

/** Longer than a join takes. */
const NEW_SECONDS = 30;
const TENANTS_AT_ONCE = 100;

/** Several processes may run this at once: each device leaves once. */
export async function reapplyNewRevocations(deps: Pick<EventDeps, 'db' | 'events'>): Promise<void> {
  const found = await findRevokedKeysInUse(deps.db, { seconds: NEW_SECONDS, limit: TENANTS_AT_ONCE });
  for (const { tenant, keys } of found) {
    await inTransaction(deps.db, (tx) => removeKeys(tx, tenant, keys));
    deps.events.wake(tenant);
  }
}
