/**
 * Tells of participants whose last token has lapsed: nobody else does, as nobody hangs up here.
 *
 * They have left from that instant on, whether or not a sweep has come by. What a sweep adds is the
 * event, written once however many processes sweep, and a look of the room's watchdogs.
 */
import type { Tx } from '../../base/db/pool.ts';
import { inTransaction } from '../../base/db/transaction.ts';
import { type Repeating, repeat } from '../../base/lib/repeat.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import type { Deps } from '../../doors/deps.ts';
import { appendEvents } from '../../events/events.sql.ts';
import { wakeWatchdogs } from '../watchdogs/watchdogs.sql.ts';
import { findTenantsWithLapsed, markLapsed } from './participants.sql.ts';

const EVERY_SECONDS = 1;
/** Few, because the tenant's other events wait for the end of the transaction. */
const PARTICIPANTS_AT_ONCE = 100;
const TENANTS_LOOKED_FOR = 1_000;

export function startParticipantsSweep(deps: Deps): Repeating {
  return repeat(
    EVERY_SECONDS,
    () => sweepParticipants(deps),
    (error) => deps.log.warn({ err: error }, 'participants whose tokens lapsed were not swept'),
  );
}

/** Every tenant apart, so that none waits for the events of another. */
export async function sweepParticipants(deps: Deps): Promise<void> {
  for (const tenant of await findTenantsWithLapsed(deps.db, TENANTS_LOOKED_FOR)) {
    let left: number;
    do {
      left = await inTransaction(deps.db, (tx) => sweepSome(tx, tenant));
      if (left > 0) deps.events.wake(tenant);
    } while (left === PARTICIPANTS_AT_ONCE);
  }
}

/** Returns how many have left. */
async function sweepSome(tx: Tx, tenant: TenantId): Promise<number> {
  const left = await markLapsed(tx, tenant, PARTICIPANTS_AT_ONCE);
  if (left.length === 0) return 0;
  // In one order, for two processes that sweep different participants of the same rooms.
  const rooms = new Set(left.map((participant) => participant.roomUid).sort());
  for (const roomUid of rooms) await wakeWatchdogs(tx, tenant, roomUid);
  await appendEvents(
    tx,
    tenant,
    left.map((subject) => ({ roomUid: subject.roomUid, what: { type: 'participant_left', subject } })),
  );
  return left.length;
}
