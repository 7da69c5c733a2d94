/**
 * The engine of watchdogs: it looks at those that are due, fires them, warns of them, or sees when to
 * look again.
 *
 * What a watchdog waits for is never kept, only computed from what is there, so nothing has to be put
 * right after a restart. Any number of processes may do this at once: each watchdog is looked at under
 * the lock of its room and of its row, and the state of the row decides who fires it.
 */
import { inTransaction } from '../../base/db/transaction.ts';
import { type Repeating, repeat } from '../../base/lib/repeat.ts';
import { renderTenantId } from '../../base/tenants/tenant.ts';
import type { Deps } from '../../doors/deps.ts';
import { appendEvents } from '../../events/events.sql.ts';
import { lockRoom } from '../rooms/rooms.sql.ts';
import { fire } from './fire.ts';
import {
  claimDueWatchdogs,
  type DueWatchdog,
  findMsToNextCheck,
  type Look,
  lockTargets,
  lockWaitingWatchdogs,
  settleWatchdog,
} from './watchdogs.sql.ts';

/** Something that happens to a room is noticed after this time at the latest. */
const EVERY_MS = 250;
/** Others may have locked what is due; asking them at once again would only slow them down. */
const NAP_MS_MIN = 5;
const CLAIM_MAX = 200;
/** A process that dies leaves what it claimed to the others for so long. */
const LEASE_SECONDS = 5;
const LOOKS_AT_ONCE = 4;

export function startWatchdogs(deps: Deps): Repeating {
  const turn = async () => {
    await lookAtDue(deps);
    const ms = await findMsToNextCheck(deps.db);
    if (ms !== null && ms < EVERY_MS) setTimeout(() => loop.wake(), Math.max(ms, NAP_MS_MIN)).unref();
  };
  const loop = repeat(EVERY_MS / 1000, turn, (error) =>
    deps.log.error({ err: error }, 'watchdogs were not looked at'),
  );
  return loop;
}

/** Look once at what is due now. */
export async function lookAtDue(deps: Deps): Promise<void> {
  const due = (await claimDueWatchdogs(deps.db, { limit: CLAIM_MAX, leaseSeconds: LEASE_SECONDS })).values();
  // Several take from the same list, so that one that is slow holds up no other.
  const lane = async () => {
    for (const each of due) await lookAt(deps, each);
  };
  await Promise.all(Array.from({ length: LOOKS_AT_ONCE }, lane));
}

/** One that fails is looked at again when its lease is over. */
async function lookAt(deps: Deps, due: DueWatchdog): Promise<void> {
  try {
    const look = await settle(deps, due);
    deps.metrics.watchdogLooks.inc({ outcome: look?.verdict ?? 'gone' });
    if (look && (look.verdict === 'fire' || toldOf(look))) deps.events.wake(due.tenant);
  } catch (error) {
    deps.metrics.watchdogLooks.inc({ outcome: 'failed' });
    const { id, tenant } = due;
    deps.log.error({ err: error, watchdog: id, tenant: renderTenantId(tenant) }, 'a watchdog failed');
  }
}

async function settle(deps: Deps, due: DueWatchdog): Promise<Look | undefined> {
  let begun = 0;
  const look = await inTransaction(deps.db, async (tx) => {
    await lockRoom(tx, due.tenant, due.roomUid);
    await lockTargets(tx, due);
    await lockWaitingWatchdogs(tx, due);
    const look = await settleWatchdog(tx, due);
    begun = performance.now();
    if (look?.verdict === 'fire') await fire(tx, due.tenant, look.watchdog, look.usernames);
    const told = look && toldOf(look);
    if (told) {
      await appendEvents(tx, due.tenant, [
        { roomUid: due.roomUid, what: { type: told, subject: look.watchdog } },
      ]);
    }
    return look;
  });
  if (look?.verdict === 'fire') {
    deps.metrics.watchdogLateness.observe(look.lateSeconds + (performance.now() - begun) / 1000);
  }
  return look;
}

/** What is told where nothing fires: a warning, once, and that it is off. */
function toldOf({ verdict, stateBefore }: Look): 'watchdog_warned' | 'watchdog_rearmed' | undefined {
  if (verdict === 'warn') return stateBefore === 'armed' ? 'watchdog_warned' : undefined;
  return verdict !== 'fire' && stateBefore === 'warned' ? 'watchdog_rearmed' : undefined;
}
