/**
 * Emits `participant_left` when the last token of a participant has expired. There is no explicit leave call,
 * so expiry is the only signal.
 *
 * A participant counts as left from that instant on, even before a sweep updates the row. Each event is
 * written once, however many processes sweep.
 */
import type { Tx } from '../../base/db/pool.ts';
import { inTransaction } from '../../base/db/transaction.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import { appendEvents } from '../../events/append-events.sql.ts';
import type { EventDeps } from '../../events/event-deps.ts';
import { findTenantsWithExpired, markExpired } from './participants.sql.ts';
import { participantLeft } from './room-events.ts';

/** Few, because the tenant's other events wait for the end of the transaction. */
const PARTICIPANTS_AT_ONCE = 100;
const TENANTS_LOOKED_FOR = 1_000;

/** One transaction per tenant, so that no tenant waits for the events of another. */
export async function sweepParticipants(deps: EventDeps): Promise<void> {
  for (const tenant of await findTenantsWithExpired(deps.db, TENANTS_LOOKED_FOR)) {
    let left: number;
    do {
      left = await inTransaction(deps.db, (tx) => sweepSome(tx, tenant));
      if (left > 0) deps.events.wake(tenant);
    } while (left === PARTICIPANTS_AT_ONCE);
  }
}

/** Returns how many have left. */
async function sweepSome(tx: Tx, tenant: TenantId): Promise<number> {
  const left = await markExpired(tx, tenant, PARTICIPANTS_AT_ONCE);
  await appendEvents(tx, tenant, left.map(participantLeft));
  return left.length;
}
