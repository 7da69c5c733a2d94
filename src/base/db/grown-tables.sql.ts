/** Renews what the planner knows of tables that have grown. */
import type { Db } from './pool.ts';

/** A table is analyzed again when it has so many times the rows that it had the last time. */
const GROWTH = 10;
/** Below ten times as many rows, it does not matter how they are found. */
const ROWS_MIN = 20;
/** Beyond so many rows, no plan changes. */
const ROWS_MAX = 100_000;

/**
 * Plans of all connections that use a table which has grown are made anew.
 *
 * Otherwise a plan from when it was nearly empty would read all rows of a tenant, or of the table, for each statement,
 * until PostgreSQL analyzes the table by itself: about a minute.
 */
export async function analyzeGrownTables(db: Db): Promise<void> {
  await db.query({
    name: 'analyze-grown-tables',
    text: 'select analyze_grown_tables($1, $2, $3)',
    values: [GROWTH, ROWS_MIN, ROWS_MAX],
  });
}
