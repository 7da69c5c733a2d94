/** What reads every table in one transaction, as a backup, an export or `verify` does. A migration may not make others wait for it. */
import type { Pool } from '../../src/base/db/pool.ts';

const LOCK_ALL = `
  select 'lock table ' || string_agg(oid::regclass::text, ', ') || ' in access share mode' as statement
    from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace`;

/** Its transaction stays open until `ended`. */
export async function readForLong(db: Pool, ended: Promise<unknown>): Promise<void> {
  const client = await db.connect();
  try {
    await client.query('begin');
    const { rows } = await client.query<{ statement: string }>(LOCK_ALL);
    await client.query(rows[0]!.statement);
    await ended;
    await client.query('rollback');
  } finally {
    client.release();
  }
}
