/** Sessions that wait for locks, for tests of what happens meanwhile. */
import { isDistributed } from '../../src/base/db/distribution.ts';
import type { Db } from '../../src/base/db/pool.ts';

/** How many sessions of the database wait for a lock. On a cluster they wait on the server that has the row. */
export async function countLockWaiters(db: Db): Promise<number> {
  const { rows } = await db.query<{ count: number }>(
    `select count(*)::integer as count from ${isDistributed() ? 'citus_stat_activity' : 'pg_stat_activity'}
      where datname = current_database() and wait_event_type = 'Lock'`,
  );
  return rows[0]!.count;
}
