/** 0037_payment_times.sql on a database with payments. */
import { expect, test } from 'vitest';
import { useDatabase } from '../../support/database.ts';
import { migrateBefore, readMigration } from '../../support/migrations.ts';

const NAME = '0037_payment_times.sql';
const database = useDatabase({ empty: true });

test('a payment gets the time of its entry in the ledger, to the microsecond', async () => {
  const { pool } = database;
  await migrateBefore(pool, NAME);
  await pool.query(`
    insert into tenants (id, name, email) values (7, 'Ada', 'ada@example.com');
    insert into accounts (tenant_id) values (7);
    insert into checkouts (id, tenant_id, amount) values ('co_1', 7, 5), ('co_2', 7, 5);
    insert into payments (id, tenant_id, kind, credited, checkout_id, settled_at) values
      ('pi_1', 7, 'top_up', 5, 'co_1', '2026-10-01T00:00:00.000001Z'),
      ('pi_2', 7, 'top_up', 5, 'co_2', '2026-10-02T00:00:00Z');
    insert into postings (tenant_id, seq, kind, balance_before, amount, balance, at, reference, payment_id) values
      (7, 1, 'top_up', 0, 5, 5, '2026-10-01T00:00:00.123456Z', 'pi_1', 'pi_1'),
      (7, 2, 'refund', 5, -5, 0, '2026-10-03T00:00:00Z', 're_1', 'pi_1');
    ${await readMigration(NAME)}`);
  const { rows } = await pool.query(
    `select id, to_char(settled_at at time zone 'UTC', 'DD HH24:MI:SS.US') as at from payments order by id`,
  );
  expect(rows).toEqual([
    { id: 'pi_1', at: '01 00:00:00.123456' },
    // An entry that is missing leaves the payment alone.
    { id: 'pi_2', at: '02 00:00:00.000000' },
  ]);
});
