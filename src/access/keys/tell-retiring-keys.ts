/**
 * Remind tenants of replaced keys that soon stop working.
 *
 * The rotation itself was told by `key_rotated`. The reminder comes when a quarter of the overlap is left, and no
 * earlier than a day before its end. After a short overlap there is nothing to be reminded of.
 */
import { inTransaction } from '../../base/db/transaction.ts';
import { appendEvents } from '../../events/append-events.sql.ts';
import type { EventDeps } from '../../events/event-deps.ts';
import { keyRetiring } from './key-events.ts';
import { takeRetiringKeys } from './key-life.sql.ts';

const NOTICE_SECONDS_MAX = 86_400;
const REMINDED_OVERLAP_SECONDS_MIN = 3_600;

const AT_ONCE = 100;

/** How long before the end of an overlap the reminder is due, in seconds; `undefined`: there is none. */
export function noticeSecondsOf(overlapSeconds: number): number | undefined {
  if (overlapSeconds < REMINDED_OVERLAP_SECONDS_MIN) return undefined;
  return Math.min(Math.floor(overlapSeconds / 4), NOTICE_SECONDS_MAX);
}

/** Any number of processes may do this at once. */
export async function tellRetiringKeys(deps: EventDeps): Promise<void> {
  for (const table of ['api_keys', 'device_credentials'] as const) {
    while ((await tellSome(deps, table)) === AT_ONCE);
  }
}

async function tellSome(
  { db, events }: EventDeps,
  table: 'api_keys' | 'device_credentials',
): Promise<number> {
  const keys = await inTransaction(db, async (tx) => {
    const taken = await takeRetiringKeys(tx, table, AT_ONCE);
    for (const key of taken) await appendEvents(tx, key.tenant, [keyRetiring(key)]);
    return taken;
  });
  for (const { tenant } of keys) events.wake(tenant);
  return keys.length;
}
