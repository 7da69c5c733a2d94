/**
 * Tell tenants of replaced keys that stop working within a day.
 *
 * A rotation with a shorter overlap tells of it at once. Without an overlap, the old key has stopped working, and
 * `key_rotated` is all there is to tell.
 */
import { inTransaction } from '../../base/db/transaction.ts';
import { appendEvents } from '../../events/append-events.sql.ts';
import type { EventDeps } from '../../events/event-deps.ts';
import { keyRetiring } from './key-events.ts';
import { takeRetiringKeys } from './working-key.sql.ts';

/** Seconds before a replaced key stops working. */
export const RETIREMENT_NOTICE_SECONDS = 86_400;

const AT_ONCE = 100;

/** Whether the rotation itself tells that the old key retires. */
export function isToldByRotation(overlapSeconds: number): boolean {
  return overlapSeconds > 0 && overlapSeconds <= RETIREMENT_NOTICE_SECONDS;
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
    const taken = await takeRetiringKeys(tx, table, { seconds: RETIREMENT_NOTICE_SECONDS, limit: AT_ONCE });
    for (const key of taken) await appendEvents(tx, key.tenant, [keyRetiring(key)]);
    return taken;
  });
  for (const { tenant } of keys) events.wake(tenant);
  return keys.length;
}
