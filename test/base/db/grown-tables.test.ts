/** Statistics from when a table was nearly empty, and the plans that connections keep. */
import type pg from 'pg';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { analyzeGrownTables } from '../../../src/base/db/grown-tables.sql.ts';
import { openPool, type Pool } from '../../../src/base/db/pool.ts';
import { useDatabase } from '../../support/database.ts';

const database = useDatabase();
/** Its plans are those of the busiest statements. */
let kept: Pool;
let writer: pg.PoolClient;

/** A table that was analyzed with one row, and a statement that was planned then. */
beforeEach(async () => {
  writer = await database.pool.connect();
  await writer.query(
    `create table guests (tenant bigint, id text, email text, primary key (tenant, id), unique (tenant, email))
       with (autovacuum_enabled = false)`,
  );
  await addGuests(1);
  await writer.query('analyze guests');
  kept = openPool(database.url, { max: 1, plansByKey: true });
  await kept.query('prepare find_guest (bigint, text) as select from guests where tenant = $1 and id = $2');
});
afterEach(async () => {
  await kept.end();
  await writer.query('drop table guests');
  writer.release();
});

async function addGuests(count: number): Promise<void> {
  await writer.query(
    `insert into guests select 1, 'guest-' || n, n || '@example.com'
       from generate_series((select count(*) + 1 from guests), (select count(*) from guests) + $1::int) n`,
    [count],
  );
  // Otherwise the server counts them up to a second later.
  await writer.query('select pg_stat_force_next_flush()');
  await writer.query('select');
}

async function indexUsed(): Promise<string> {
  const { rows } = await kept.query(`explain (format json) execute find_guest (1, 'guest-1')`);
  return rows[0]['QUERY PLAN'][0].Plan['Index Name'];
}

async function analyzedRows(): Promise<number> {
  const { rows } = await writer.query(`select reltuples from pg_class where relname = 'guests'`);
  return rows[0].reltuples;
}

test('a plan of one row is made anew when there are many', async () => {
  expect(await indexUsed()).toBe('guests_tenant_email_key');
  await addGuests(5_000);
  expect(await indexUsed()).toBe('guests_tenant_email_key');
  await analyzeGrownTables(database.pool);
  expect(await indexUsed()).toBe('guests_pkey');
});

test('a table is analyzed when it has ten times the rows, and not before', async () => {
  await addGuests(198);
  await analyzeGrownTables(database.pool);
  expect(await analyzedRows()).toBe(1);
  await addGuests(1);
  await analyzeGrownTables(database.pool);
  expect(await analyzedRows()).toBe(200);
  await addGuests(1_799);
  await analyzeGrownTables(database.pool);
  expect(await analyzedRows()).toBe(200);
  await addGuests(1);
  await analyzeGrownTables(database.pool);
  expect(await analyzedRows()).toBe(2_000);
});

test('a table that is locked does not delay the others', async () => {
  await addGuests(500);
  await writer.query('begin; lock table guests in access exclusive mode');
  await analyzeGrownTables(database.pool);
  await writer.query('commit');
  expect(await analyzedRows()).toBe(1);
});

test('a role that owns no table may ask for it', async () => {
  const pool = openPool(database.applicationUrl, { max: 1 });
  await addGuests(500);
  await analyzeGrownTables(pool).finally(() => pool.end());
  expect(await analyzedRows()).toBe(501);
});
