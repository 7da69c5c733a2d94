/** SQL of `rate_limits`. Uses database time. */
import type { Db } from '../db/pool.ts';

/** The window of a key, after a count. */
export interface Window {
  readonly points: number;
  /** Until it ends. */
  readonly msLeft: number;
}

const NOW_MS = 'extract(epoch from now()) * 1000';

/**
 * Adds `amount` to each `key` of `amounts`, SQL that selects both. A window of so many milliseconds, which is SQL too, begins
 * with the first count of a key, and with the first after the last window has ended. Returns `key`, `points` and `msLeft`.
 *
 * The commit does not wait for the disk. If the server loses its power, the counts of the last second are lost.
 */
export function countingText(amounts: string, milliseconds: string): string {
  // In the order of the keys, so that two statements never wait for each other.
  return `insert into rate_limits as r (key, points, expire)
           select key, amount, ${NOW_MS} + ${milliseconds} from (${amounts}) g order by key
           on conflict (key) do update
             set points = case when r.expire <= ${NOW_MS} then excluded.points else r.points + excluded.points end,
                 expire = case when r.expire <= ${NOW_MS} then excluded.expire else r.expire end
           returning key, points, ceil(expire - ${NOW_MS})::double precision as "msLeft",
                     set_config('synchronous_commit', 'off', true)`;
}

/** A statement waits no longer for the lock of a key. Then its keys are tried again one at a time (`base/db/gather.ts`). */
export const SHARED_LOCK_MS = 40;

/** Adds to each key in `amounts`, as `countingText()` says. */
export async function countInWindow(
  db: Db,
  seconds: number,
  amounts: ReadonlyMap<string, number>,
): Promise<ReadonlyMap<string, Window>> {
  const { rows } = await db.query<Window & { readonly key: string }>({
    name: 'count-in-window',
    text: countingText(
      `select u.* from (select set_config('lock_timeout', $4, true)) as s, unnest($1::text[], $2::integer[]) as u (key, amount)`,
      '$3',
    ),
    values: [[...amounts.keys()], [...amounts.values()], seconds * 1000, String(SHARED_LOCK_MS)],
  });
  return new Map(rows.map(({ key, points, msLeft }) => [key, { points, msLeft }]));
}

/** Takes back one from the window of a key that was counted, unless the window has ended. */
export async function takeBackFromWindow(db: Db, key: string): Promise<void> {
  await db.query({
    name: 'take-back-from-window',
    text: `update rate_limits r set points = r.points - 1 from (select ${NOW_MS} as ms) as now
            where r.key = $1 and r.points > 0 and r.expire > now.ms`,
    values: [key],
  });
}

/** Delete some windows that have ended. Returns how many. */
export async function deleteEndedWindows(db: Db, limit: number): Promise<number> {
  const { rowCount } = await db.query({
    name: 'delete-ended-windows',
    text: `delete from rate_limits where key in (
             select key from rate_limits where expire <= ${NOW_MS} limit $1 for update skip locked)`,
    values: [limit],
  });
  return rowCount ?? 0;
}
