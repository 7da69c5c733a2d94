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
import { findDueRooms, markExpired, postponeLapses } from './lapses.sql.ts';
import { participantLeft } from './room-events.ts';

/** Few, because the tenant's other events wait for the end of the transaction. */
const PARTICIPANTS_AT_ONCE = 100;
const ROOMS_AT_ONCE = 100;

/** One transaction per tenant, so that no tenant waits for the events of another. */
export async function tellExpiredParticipants(deps: EventDeps): Promise<void> {
  let postponed: number;
  do {
    postponed = 0;
    const due = await findDueRooms(deps.db, ROOMS_AT_ONCE);
    for (const [tenant, rooms] of Map.groupBy(due, (room) => room.tenant)) {
      postponed += await sweepRooms(
        deps,
        tenant,
        rooms.map(({ roomUid }) => roomUid),
      );
    }
    // Rooms that are locked stay due, and are left to the next sweep.
  } while (postponed === ROOMS_AT_ONCE);
}

/** Returns for how many of these rooms the next look is later. */
async function sweepRooms(deps: EventDeps, tenant: TenantId, roomUids: readonly string[]): Promise<number> {
  let left: number;
  do {
    left = await inTransaction(deps.db, (tx) => sweepSome(tx, tenant, roomUids));
    if (left > 0) deps.events.wake(tenant);
  } while (left === PARTICIPANTS_AT_ONCE);
  return inTransaction(deps.db, (tx) => postponeLapses(tx, tenant, roomUids));
}

/** Returns how many have left. */
async function sweepSome(tx: Tx, tenant: TenantId, roomUids: readonly string[]): Promise<number> {
  const left = await markExpired(tx, tenant, roomUids, PARTICIPANTS_AT_ONCE);
  await appendEvents(tx, tenant, left.map(participantLeft));
  return left.length;
}
