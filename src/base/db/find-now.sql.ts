/** The clock that all processes share. */
import type { Db } from './pool.ts';

/** The time at which the transaction began, by the clock of the database. */
export async function findNow(db: Db): Promise<Date> {
  const { rows } = await db.query<{ now: Date }>({ name: 'find-now', text: 'select now()' });
  return rows[0]!.now;
}
