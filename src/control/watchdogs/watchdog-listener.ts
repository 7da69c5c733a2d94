/**
 * Wakes watchdogs on events of rooms and credit, so that other operations need not know of watchdogs.
 *
 * After an event the listener brings the next look forward; the timer (`watch.ts`) looks and decides.
 */
import type { Tx } from '../../base/db/pool.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import type { LoggedEvent } from '../../events/event.ts';
import type { Listener } from '../../events/listener.ts';
import { ADMITTED_EVENTS, CONDITIONS } from './conditions.ts';
import { type Unadmitted, type Woken, wakeUnadmittedWatchdogs, wakeWatchdogs } from './wake-watchdogs.sql.ts';
import { WATCHDOG_CONDITIONS } from './watchdog.ts';

export const LISTENER_NAME = 'watchdogs';

export const watchdogListener: Listener = {
  name: LISTENER_NAME,
  types: [...new Set(['room_ended', ...Object.values(CONDITIONS).flatMap(({ events }) => events)])],
  handle: async (tx, tenant, events) => {
    await wakeRooms(tx, tenant, events);
    const unadmitted = readAdmitted(events);
    if (unadmitted) await wakeUnadmittedWatchdogs(tx, tenant, unadmitted);
  },
};

/** The conditions that an event of this type may change. */
const WOKEN_BY = new Map(
  watchdogListener.types.map((type) => [
    type,
    WATCHDOG_CONDITIONS.filter((each) => type === 'room_ended' || CONDITIONS[each].events.includes(type)),
  ]),
);

async function wakeRooms(tx: Tx, tenant: TenantId, events: readonly LoggedEvent[]): Promise<void> {
  const woken = new Map<string, Woken>();
  for (const { roomUid, type } of events) {
    if (roomUid === null) continue;
    for (const condition of WOKEN_BY.get(type) ?? []) {
      woken.set(`${roomUid} ${condition}`, { roomUid, condition });
    }
  }
  if (woken.size > 0) await wakeWatchdogs(tx, tenant, [...woken.values()]);
}

/** `undefined`: the events say nothing about it. */
function readAdmitted(events: readonly LoggedEvent[]): Unadmitted | undefined {
  let found: Unadmitted | undefined;
  for (const { type, at, subject } of events) {
    if (!ADMITTED_EVENTS.includes(type)) continue;
    if ((subject as { readonly admitted: boolean }).admitted) found = { since: null, isNew: false };
    else if (!found) found = { since: at, isNew: false };
    else if (found.since === null) found = { since: at, isNew: true };
  }
  return found;
}
