/**
 * The timer of watchdogs: it looks at those that are due, and fires, warns or schedules the next look.
 *
 * A look computes the deadline from the current rows, so a restart needs no recovery. Any number of processes
 * may look at once: each look locks the room and the watchdog, and the state of the row decides which process
 * fires it.
 */
import { inTransaction } from '../../base/db/transaction.ts';
import { renderTenantId } from '../../base/tenants/tenant.ts';
import { appendEvents } from '../../events/append-events.sql.ts';
import type { EventDeps } from '../../events/event-deps.ts';
import { lockRoom } from '../rooms/rooms.sql.ts';
import { claimDueWatchdogs, type DueWatchdog, findMsToNextCheck } from './due-watchdogs.sql.ts';
import { fire } from './fire.ts';
import { type Look, lockTargets, settleWatchdog } from './settle-watchdog.sql.ts';
import { type WatchdogEventType, watchdogEvent } from './watchdog-events.ts';
import type { WatchdogMetrics } from './watchdog-metrics.ts';
import { lockWatchdog } from './watchdogs.sql.ts';

export interface WatchDeps extends EventDeps {
  readonly metrics: EventDeps['metrics'] & WatchdogMetrics;
}

/** A look that an event has brought forward begins after this time at the latest. */
export const LOOK_EVERY_SECONDS = 0.25;
/** Another process may have claimed what is due; polling again at once would only slow it down. */
const PAUSE_MS_MIN = 5;
const CLAIM_MAX = 200;
/** How long the claim of a process that died lasts. */
const LEASE_SECONDS = 5;
const LOOKS_AT_ONCE = 4;

/** Look at what is due now. Calls `soon` if the next watchdog is due before the next regular turn. */
export async function watch(deps: WatchDeps, soon: (ms: number) => void): Promise<void> {
  await lookAtDue(deps);
  const ms = await findMsToNextCheck(deps.db);
  if (ms !== null && ms < LOOK_EVERY_SECONDS * 1000) soon(Math.max(ms, PAUSE_MS_MIN));
}

/** Look once at what is due now. */
export async function lookAtDue(deps: WatchDeps): Promise<void> {
  const due = (await claimDueWatchdogs(deps.db, { limit: CLAIM_MAX, leaseSeconds: LEASE_SECONDS })).values();
  // Several lanes take from one list, so that a slow look delays only its own lane.
  const lane = async () => {
    for (const each of due) await lookAt(deps, each);
  };
  await Promise.all(Array.from({ length: LOOKS_AT_ONCE }, lane));
}

/** After a failed look, the watchdog is looked at again when the claim ends. */
async function lookAt(deps: WatchDeps, due: DueWatchdog): Promise<void> {
  try {
    const look = await settle(deps, due);
    deps.metrics.watchdogLooks.inc({ outcome: look?.verdict ?? 'gone' });
    if (look && (look.verdict === 'fire' || eventOf(look))) deps.events.wake(due.tenant);
  } catch (error) {
    deps.metrics.watchdogLooks.inc({ outcome: 'failed' });
    const { id, tenant } = due;
    deps.log.error({ err: error, watchdog: id, tenant: renderTenantId(tenant) }, 'a watchdog failed');
  }
}

async function settle(deps: WatchDeps, due: DueWatchdog): Promise<Look | undefined> {
  let begun = 0;
  const look = await inTransaction(deps.db, async (tx) => {
    await lockRoom(tx, due.tenant, due.roomUid);
    await lockTargets(tx, due);
    await lockWatchdog(tx, due);
    const look = await settleWatchdog(tx, due);
    begun = performance.now();
    if (look?.verdict === 'fire') await fire(tx, due.tenant, look.watchdog, look.usernames);
    const type = look && eventOf(look);
    if (type) await appendEvents(tx, due.tenant, [watchdogEvent(type, look.watchdog)]);
    return look;
  });
  if (look?.verdict === 'fire') {
    deps.metrics.watchdogLateness.observe(look.lateSeconds + (performance.now() - begun) / 1000);
  }
  return look;
}

/** The event of a look that fires nothing: a warning, once, or that the warning no longer holds. */
function eventOf({ verdict, stateBefore }: Look): WatchdogEventType | undefined {
  switch (verdict) {
    case 'warn':
      return stateBefore === 'armed' ? 'watchdog_warned' : undefined;
    case 'over':
    case 'idle':
    case 'wait':
      return stateBefore === 'warned' ? 'watchdog_rearmed' : undefined;
    // The end of the room is the event.
    case 'ended':
    case 'behind':
    case 'fire':
      return undefined;
  }
}
