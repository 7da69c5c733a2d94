import type pg from 'pg';
import { expect, test } from 'vitest';
import type { Db } from '../../../src/base/db/pool.ts';
import { inTransaction } from '../../../src/base/db/transaction.ts';
import type { TenantId } from '../../../src/base/tenants/tenant.ts';
import { setTimeZone } from '../../../src/money/calendar/set-time-zone.ts';
import { findCalendar } from '../../../src/money/calendar/time-zones.sql.ts';
import { monthOf, nextMonth } from '../../../src/money/month.ts';
import { expectAppendOnly } from '../../support/append-only.ts';
import { useDatabase } from '../../support/database.ts';
import { makeTenant, OPERATOR } from '../../support/tenants.ts';

const database = useDatabase();
const set = (tenant: TenantId, name: string) =>
  inTransaction(database.pool, (tx) => setTimeZone(tx, OPERATOR, tenant, name));

test('twenty changes at once all count, one after the other, and are append-only', async () => {
  const tenant = await makeTenant(database.pool);
  const names = Array.from({ length: 20 }, (_, at) => (at % 2 === 0 ? 'Asia/Kathmandu' : 'Europe/Berlin'));
  await Promise.all(names.map((name) => set(tenant, name)));
  const { rows } = await database.pool.query(
    'select seq, name from time_zones where tenant_id = $1 order by seq',
    [tenant],
  );
  expect(rows.map(({ seq }) => Number(seq))).toEqual(rows.map((_, at) => at + 1));
  // Each of them is another one than before.
  expect(rows.every(({ name }, at) => name !== rows[at - 1]?.name)).toBe(true);
  const calendar = await findCalendar(database.pool, tenant);
  expect(calendar.newest?.zone).toBe(rows.at(-1)!.name);
  expect(await countRead(tenant)).toBeLessThanOrEqual(2);
  await expectAppendOnly(database, 'time_zones', `update time_zones set name = 'UTC'`);
});

/** How many rows the calendar of a tenant is made from. */
async function countRead(tenant: TenantId): Promise<number> {
  let count = 0;
  const query = async (statement: pg.QueryConfig) => {
    const result = await database.pool.query(statement);
    count += result.rows.length;
    return result;
  };
  await findCalendar({ query } as Db, tenant);
  return count;
}

test('this month and those before keep their zone, whatever is set', async () => {
  const tenant = await makeTenant(database.pool);
  const month = monthOf(new Date());
  const before = await findCalendar(database.pool, tenant);
  for (const name of ['Pacific/Kiritimati', 'Etc/GMT+12', 'America/Havana']) {
    await set(tenant, name);
    const after = await findCalendar(database.pool, tenant);
    expect([after.startOf(month), after.endOf(month)]).toEqual([before.startOf(month), before.endOf(month)]);
  }
  const { newest } = await findCalendar(database.pool, tenant);
  expect([nextMonth(month), nextMonth(nextMonth(month))]).toContain(newest!.month);
});
