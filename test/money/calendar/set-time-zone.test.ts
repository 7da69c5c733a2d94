import type pg from 'pg';
import { expect, test } from 'vitest';
import type { Db } from '../../../src/base/db/pool.ts';
import { inTransaction } from '../../../src/base/db/transaction.ts';
import type { TenantId } from '../../../src/base/tenants/tenant.ts';
import { setTimeZone } from '../../../src/money/calendar/set-time-zone.ts';
import { findCalendar, insertTimeZone } from '../../../src/money/calendar/time-zones.sql.ts';
import { monthOf, nextMonth } from '../../../src/money/month.ts';
import { expectAppendOnly } from '../../support/append-only.ts';
import { post } from '../../support/months.ts';
import { usageRecord, useService } from '../../support/service.ts';
import { idOf, makeTenant, OPERATOR } from '../../support/tenants.ts';
import { spend } from '../grants/support.ts';

const app = useService();
const db = () => app.service.deps.db;
const set = (tenant: TenantId, name: string) =>
  inTransaction(db(), (tx) => setTimeZone(tx, OPERATOR, tenant, name));

test('twenty changes at once all count, one after the other, and are append-only', async () => {
  const tenant = await makeTenant(db());
  const names = Array.from({ length: 20 }, (_, at) => (at % 2 === 0 ? 'Asia/Kathmandu' : 'Europe/Berlin'));
  await Promise.all(names.map((name) => set(tenant, name)));
  const { rows } = await db().query('select seq, name from time_zones where tenant_id = $1 order by seq', [
    tenant,
  ]);
  expect(rows.map(({ seq }) => Number(seq))).toEqual(rows.map((_, at) => at + 1));
  // Each of them is another one than before.
  expect(rows.every(({ name }, at) => name !== rows[at - 1]?.name)).toBe(true);
  const calendar = await findCalendar(db(), tenant);
  expect(calendar.newest?.zone).toBe(rows.at(-1)!.name);
  // On the last day of a month, the next one has begun in Kathmandu: two months, and the end that the first one had.
  expect(await countRead(tenant)).toBeLessThanOrEqual(3);
  await expectAppendOnly(app.database, 'time_zones', `update time_zones set name = 'UTC'`);
});

/** How many rows the calendar of a tenant is made from. */
async function countRead(tenant: TenantId): Promise<number> {
  let count = 0;
  const query = async (statement: pg.QueryConfig) => {
    const result = await db().query(statement);
    count += result.rows.length;
    return result;
  };
  await findCalendar({ query } as Db, tenant);
  return count;
}

test('this month and those before keep their zone once there is usage, whatever is set', async () => {
  const tenant = await makeTenant(db());
  await spend(db(), tenant, 1n);
  const month = monthOf(new Date());
  const before = await findCalendar(db(), tenant);
  for (const name of ['Pacific/Kiritimati', 'Etc/GMT+12', 'America/Havana']) {
    await set(tenant, name);
    const after = await findCalendar(db(), tenant);
    expect([after.startOf(month), after.endOf(month)]).toEqual([before.startOf(month), before.endOf(month)]);
  }
  const { newest } = await findCalendar(db(), tenant);
  expect([nextMonth(month), nextMonth(nextMonth(month))]).toContain(newest!.month);
});

test('this month ends in the zone that is set before the first usage', async () => {
  const tenant = await makeTenant(db());
  await post(db(), tenant, { kind: 'adjustment', amount: 5n });
  const soon = await db().query(`select now() + interval '15 minutes' as at`);
  const month = monthOf(soon.rows[0].at);
  const before = await findCalendar(db(), tenant);
  for (const name of ['Asia/Kathmandu', 'America/Havana'] as const) {
    const old = await findCalendar(db(), tenant);
    await set(tenant, name);
    const after = await findCalendar(db(), tenant);
    // In the new zone, the next month may have begun.
    expect(after.newest).toMatchObject({ zone: name, month: old.monthOf(soon.rows[0].at) });
    expect(after.startOf(month)).toEqual(before.startOf(month));
  }
});

test('a change does not come before one that was set for a later month', async () => {
  const tenant = await makeTenant(db());
  const later = nextMonth(nextMonth(monthOf(new Date())));
  await inTransaction(db(), (tx) => insertTimeZone(tx, tenant, 'Asia/Kathmandu', later));
  await set(tenant, 'America/Havana');
  expect((await findCalendar(db(), tenant)).newest).toMatchObject({ zone: 'America/Havana', month: later });
});

test('usage that an exempt tenant reported counts, too', async () => {
  const { id, relayKey } = await app.signUp();
  const tenant = idOf({ id });
  await db().query('update tenants set exempt = true where id = $1', [tenant]);
  await app.request('POST', '/v1/usage', { key: relayKey, body: { records: [usageRecord()] } });
  await set(tenant, 'Asia/Kathmandu');
  const { newest } = await findCalendar(db(), tenant);
  expect(newest!.month > monthOf(new Date())).toBe(true);
});

test('a first charge at the same time comes before the look at usage, or after the commit', async () => {
  const outcomes = await Promise.all(
    Array.from({ length: 20 }, async (_, at) => {
      const tenant = await makeTenant(db());
      const both = [() => set(tenant, 'Asia/Kathmandu'), () => spend(db(), tenant, 1n)];
      await Promise.all((at % 2 === 0 ? both : both.toReversed()).map((act) => act()));
      const { rows } = await db().query(
        `select z.month > date_trunc('month', z.at + interval '15 minutes') as "isLater", p.at < z.at as "wasCharged"
           from time_zones z join postings p using (tenant_id) where tenant_id = $1`,
        [tenant],
      );
      return rows[0];
    }),
  );
  for (const { isLater, wasCharged } of outcomes) expect(isLater).toBe(wasCharged);
});
