/** 0016_receipts.sql on a database with payments. */
import { beforeAll, expect, test } from 'vitest';
import { useDatabase } from '../../support/database.ts';
import { migrateBefore, readMigration } from '../../support/migrations.ts';

const NAME = '0016_receipts.sql';
const database = useDatabase({ empty: true });

beforeAll(async () => {
  const { pool } = database;
  await migrateBefore(pool, NAME);
  await pool.query(`
    insert into tenants (id, name, email) values (7, 'Ada', 'ada@example.com');
    insert into payments (id, tenant_id, kind, credited, attempt_id, checkout_id)
    values ('pi_1', 7, 'top_up', 100, null, 'co_1'), ('pi_2', 7, 'auto_top_up', 100, 'tu_1', null);
  `);
  await pool.query(await readMigration(NAME));
});

test('payments so far had no tax', async () => {
  const { rows } = await database.pool.query('select distinct tax from payments');
  expect(rows).toStrictEqual([{ tax: 0n }]);
});

test.each([
  [`update payments set tax = -1 where id = 'pi_1'`, 'payments_tax_check'],
  [`update payments set tax = 1 where id = 'pi_2'`, 'payments_tax_of_checkouts'],
])('%s is refused', async (change, constraint) => {
  await expect(database.pool.query(change)).rejects.toMatchObject({ constraint });
});
