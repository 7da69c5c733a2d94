/**
 * Whether the tables of the database are distributed over the workers of a Citus cluster.
 *
 * This is the only switch for it. A process serves one database, and reads once at its start whether that database
 * is distributed. Citus refuses some statements that one server runs fastest; for these there are two, and the one
 * for a distributed database names one tenant.
 */
import type pg from 'pg';

/** Runs one statement, as `Db` of the pool does, which imports this file. */
type Asking = Pick<pg.Pool, 'query'>;

let distributed = false;

export function isDistributed(): boolean {
  return distributed;
}

/** SQL of the time of day in an `update`. Citus refuses a function that changes within a statement. */
export function clock(): string {
  return distributed ? 'statement_timestamp()' : 'clock_timestamp()';
}

/** Ask the database, and set the switch for the whole process. */
export async function readDistribution(db: Asking): Promise<void> {
  distributed = await findDistribution(db);
}

/** Citus lists the tables that it has distributed in a table of its own, which other databases do not have. */
async function findDistribution(db: Asking): Promise<boolean> {
  const { rows } = await db.query<{ exists: boolean }>(
    `select to_regclass('pg_dist_partition') is not null as exists`,
  );
  if (!rows[0]!.exists) return false;
  const { rows: found } = await db.query(
    `select from pg_dist_partition where logicalrelid = to_regclass('tenant_places')`,
  );
  return found.length > 0;
}
