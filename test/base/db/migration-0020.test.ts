/** 0020_notices.sql on a database with cards, keys and disputes. */
import { beforeAll, expect, test } from 'vitest';
import { useDatabase } from '../../support/database.ts';
import { migrateBefore, readMigration } from '../../support/migrations.ts';

const NAME = '0020_notices.sql';
const database = useDatabase({ empty: true });

beforeAll(async () => {
  const { pool } = database;
  await migrateBefore(pool, NAME);
  await pool.query(`
    insert into tenants (id, name, email) values (7, 'Ada', 'ada@example.com');
    insert into payment_settings (tenant_id, customer_id, payment_method_id) values (7, 'cus_1', 'pm_1');
    insert into api_keys (id, tenant_id, name, kind, hash, retires_at)
    values ('0123456789abcdef', 7, 'old', 'backend', sha256(''), now() + interval '2 days');
    insert into disputes (id, payment_id, amount, outcome) values ('du_1', 'pi_1', 100, 'lost'), ('du_2', 'pi_1', 100, null);
    insert into fraud_warnings (id, payment_id) values ('issfr_1', 'pi_1');
  `);
  await pool.query(await readMigration(NAME));
});

const rowsOf = async (sql: string) => (await database.pool.query(sql)).rows;

test('disputes and warnings so far count as told, those from now on do not', async () => {
  await database.pool.query(`
    insert into disputes (id, payment_id, amount) values ('du_3', 'pi_1', 100);
    insert into fraud_warnings (id, payment_id) values ('issfr_2', 'pi_1')`);
  expect(await rowsOf('select id, told, outcome_told as outcome from disputes order by id')).toStrictEqual([
    { id: 'du_1', told: true, outcome: 'lost' },
    { id: 'du_2', told: true, outcome: null },
    { id: 'du_3', told: false, outcome: null },
  ]);
  expect(await rowsOf('select told from fraud_warnings order by id')).toStrictEqual([
    { told: true },
    { told: false },
  ]);
});

test('cards so far are not known, and keys that retire are told six hours before', async () => {
  expect(await rowsOf('select card_ends_on, card_look_at from payment_settings')).toStrictEqual([
    { card_ends_on: null, card_look_at: null },
  ]);
  expect(await rowsOf('select retires_at - retirement_notice_at as early from api_keys')).toMatchObject([
    { early: { hours: 6 } },
  ]);
});

test.each([
  [`update payment_settings set card_brand = 'visa'`, 'payment_settings_card'],
  ['insert into conflict_notices (tenant_id, reports) values (7, 1)', 'conflict_notices_check'],
  [
    'insert into conflict_notices (tenant_id, reports, first_at) values (7, -1, now())',
    'conflict_notices_reports_check',
  ],
])('%s is refused', async (change, constraint) => {
  await expect(database.pool.query(change)).rejects.toMatchObject({ constraint });
});
