import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isDistributed } from '../../../src/base/db/distribution.ts';
import { openPool, type Pool } from '../../../src/base/db/pool.ts';
import { useDatabase } from '../../support/database.ts';
import { type DatabaseProxy, openDatabaseProxy } from './proxy.ts';

const database = useDatabase();

describe('openPool', () => {
  it.each([
    ['9223372036854775807', 9_223_372_036_854_775_807n],
    ['-9223372036854775808', -9_223_372_036_854_775_808n],
    ['0', 0n],
  ])('reads the eight-byte integer %s exactly', async (text, value) => {
    const { rows } = await database.pool.query(
      'select $1::bigint as value, array[$1::bigint]::text[] as list',
      [text],
    );
    expect(rows).toEqual([{ value, list: [text] }]);
  });

  it('reads other types as the driver does', async () => {
    const { rows } = await database.pool.query(
      `select 5 as int, 'a' as text, true as bool, '{"a": 1}'::jsonb as json`,
    );
    expect(rows).toEqual([{ int: 5, text: 'a', bool: true, json: { a: 1 } }]);
  });

  it.each([
    ['statement_timeout', '10s'],
    ['lock_timeout', '8s'],
    ['idle_in_transaction_session_timeout', '15s'],
    ['application_name', 'boxoffice'],
  ])('sets %s to %s', async (name, value) => {
    const { rows } = await database.pool.query('select current_setting($1) as value', [name]);
    expect(rows[0].value).toBe(value);
  });

  it.each([
    [false, ['force_generic_plan', 'on', 'on', 'on']],
    [true, ['force_generic_plan', 'off', 'off', 'off']],
  ])('plans once, and by key alone only if asked (%s)', async (plansByKey, settings) => {
    const pool = openPool(database.url, { max: 1, plansByKey });
    const names = ['plan_cache_mode', 'enable_seqscan', 'enable_hashjoin', 'enable_mergejoin'];
    const { rows } = await pool
      .query(
        `select array_agg(current_setting(name) order by at) as values
           from unnest($1::text[]) with ordinality u (name, at)`,
        [names],
      )
      .finally(() => pool.end());
    // Citus plans for the server that has the tenant, and keeps plans by itself.
    expect(rows[0].values).toEqual(isDistributed() ? ['auto', 'on', 'on', 'on'] : settings);
  });

  it('uses the given application name', async () => {
    const pool = openPool(database.url, { max: 1, applicationName: 'somebody else' });
    const { rows } = await pool
      .query(`select current_setting('application_name') as name`)
      .finally(() => pool.end());
    expect(rows[0].name).toBe('somebody else');
  });
});

describe('a database that was unavailable', () => {
  let proxy: DatabaseProxy;
  let pool: Pool;

  beforeAll(async () => {
    proxy = await openDatabaseProxy(database.url);
    pool = openPool(proxy.url);
  });
  afterAll(async () => {
    await pool.end();
    await proxy.close();
  });

  it('fails statements meanwhile and is used again afterwards', async () => {
    await pool.query('select 1');
    proxy.setOpen(false);
    await expect(pool.query('select 1')).rejects.toThrow();
    proxy.setOpen(true);
    await expect(pool.query('select 1 as one')).resolves.toMatchObject({ rows: [{ one: 1 }] });
  });
});
