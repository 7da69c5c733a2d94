/** Connections through a pooler, on sessions that the test can look at. `test/deploy/ha.test.ts` has a real pooler. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isDistributed } from '../../../src/base/db/distribution.ts';
import { runTogether, type Statement } from '../../../src/base/db/pipeline.ts';
import { directConfig, openPool, type Pool } from '../../../src/base/db/pool.ts';
import { inTransaction } from '../../../src/base/db/transaction.ts';
import { useDatabase } from '../../support/database.ts';

const database = useDatabase();
let pool: Pool;

beforeAll(() => {
  pool = openPool(database.url, { max: 1, directUrl: `${database.url}?application_name=direct` });
});
afterAll(() => pool.end());

const prepared = async () => {
  const { rows } = await pool.query('select name from pg_prepared_statements');
  return rows;
};
const double = (value: number): Statement<{ twice: number }> => ({
  name: 'double',
  text: 'select 2 * $1::integer as twice',
  values: [value],
});

describe('leave no statement behind', () => {
  test('one by one', async () => {
    for (const value of [1, 2]) {
      const { rows } = await pool.query({
        name: 'double',
        text: 'select 2 * $1::integer as twice',
        values: [value],
      });
      expect(rows).toEqual([{ twice: 2 * value }]);
    }
    expect(await prepared()).toEqual([]);
  });

  test('nor those that go together', async () => {
    const work = () => inTransaction(pool, (tx) => runTogether(tx, [double(1), double(4)]));
    expect(await work()).toEqual([[{ twice: 2 }], [{ twice: 8 }]]);
    expect(await work()).toEqual([[{ twice: 2 }], [{ twice: 8 }]]);
    expect(await prepared()).toEqual([]);
  });

  test('nor after an error', async () => {
    const faulty: Statement = { name: 'faulty', text: 'select 1 / $1::integer', values: [0] };
    const work = () => inTransaction(pool, (tx) => runTogether(tx, [double(1), faulty, double(2)]));
    await expect(work()).rejects.toMatchObject({ code: '22012' });
    await expect(work()).rejects.toMatchObject({ code: '22012' });
    expect(await prepared()).toEqual([]);
  });
});

test('set nothing for their session, which others use too', async () => {
  const { rows } = await pool.query(
    `select current_setting('statement_timeout') as limit, current_setting('plan_cache_mode') as plans`,
  );
  expect(rows).toEqual([{ limit: '0', plans: 'auto' }]);
});

test('leave what needs a session to the direct address', () => {
  expect(directConfig(pool)).toMatchObject({
    connectionString: `${database.url}?application_name=direct`,
    statement_timeout: 10_000,
    options: expect.stringContaining(`-c plan_cache_mode=${isDistributed() ? 'auto' : 'force_generic_plan'}`),
  });
  expect(directConfig(database.pool)).toMatchObject({ connectionString: database.url });
});
