import { beforeAll, expect, it } from 'vitest';
import type { Pool } from '../../../src/base/db/pool.ts';
import { inTransaction } from '../../../src/base/db/transaction.ts';
import type { TenantId } from '../../../src/base/tenants/tenant.ts';
import { insertTimeZone } from '../../../src/money/calendar/time-zones.sql.ts';
import { parseMonth, startOf } from '../../../src/money/month.ts';
import { tellingStatements } from '../../../src/money/statements/tell-statements.ts';
import { depsOn } from '../../control/watchdogs/support.ts';
import { useDatabase } from '../../support/database.ts';
import { monthsAgo, moveInTime, post } from '../../support/months.ts';
import { makeTenant } from '../../support/tenants.ts';

// Without a service, whose own job would tell some of them.
const database = useDatabase();
const db = (): Pool => database.pool;
/** The statement of the month before is ready, however early in a month the test runs. */
const NOW = new Date(startOf(monthsAgo(0)).getTime() + 14 * 86_400_000);
const job = () => tellingStatements(depsOn(db()), async () => NOW);

const last = monthsAgo(1);
const inMonth = (months: number) => new Date(startOf(monthsAgo(months)).getTime() + 3_600_000).toISOString();

let paid: TenantId;
let quiet: TenantId;
let never: TenantId;

async function readyOf(tenant: TenantId) {
  const { rows } = await db().query<{ subject: unknown }>(
    `select subject from unnumbered_events where tenant_id = $1 and type = 'statement_ready'
     union all select subject from events where tenant_id = $1 and type = 'statement_ready'`,
    [tenant],
  );
  return rows.map(({ subject }) => subject);
}

beforeAll(async () => {
  [paid, quiet, never] = [await makeTenant(db()), await makeTenant(db()), await makeTenant(db())];
  for (const tenant of [paid, quiet]) {
    await post(db(), tenant, { kind: 'adjustment', amount: 5_000_000n });
  }
  await post(db(), paid, { kind: 'adjustment', amount: -2n });
  await post(db(), paid, { kind: 'adjustment', amount: -1_000n });
  await moveInTime(db(), paid, [inMonth(2), inMonth(1), new Date().toISOString()]);
  await moveInTime(db(), quiet, [inMonth(3)]);
});

it('tells a tenant whose balance moved in the month that is over, with both balances, and no other', async () => {
  await job()();
  expect(await readyOf(paid)).toEqual([{ month: last, opening: '5000000', closing: '4999998' }]);
  expect(await readyOf(quiet)).toEqual([]);
  expect(await readyOf(never)).toEqual([]);
});

it('tells it once, by several processes, and again after each start', async () => {
  await Promise.all(Array.from({ length: 6 }, () => job()()));
  expect(await readyOf(paid)).toHaveLength(1);
});

it('tells no month of before the newest, and the next one after it', async () => {
  await db().query(`update statement_notices set month = month - interval '1 month' where tenant_id = $1`, [
    paid,
  ]);
  await job()();
  expect((await readyOf(paid)).map((each) => (each as { month: string }).month)).toEqual([last, last]);
});

it('looks through the tenants once for each month', async () => {
  const turn = job();
  await turn();
  await db().query('delete from statement_notices where tenant_id = $1', [paid]);
  await turn();
  expect(await readyOf(paid)).toHaveLength(2);
});

it('ends a month in the time zone of the tenant', async () => {
  const zoned = await makeTenant(db());
  // In Kiritimati, months begin 14 hours before those of UTC.
  await inTransaction(db(), (tx) => insertTimeZone(tx, zoned, 'Pacific/Kiritimati', monthsAgo(6)));
  for (const amount of [5_000_000n, -7n]) await post(db(), zoned, { kind: 'adjustment', amount });
  const end = startOf(monthsAgo(0)).getTime() - 14 * 3_600_000;
  await moveInTime(db(), zoned, [new Date(end - 1).toISOString(), new Date(end).toISOString()]);
  await Promise.all(Array.from({ length: 3 }, () => job()()));
  expect(await readyOf(zoned)).toEqual([{ month: last, opening: '0', closing: '5000000' }]);
  const { rows } = await db().query('select at from month_ends where tenant_id = $1', [zoned]);
  expect(rows).toEqual([{ at: new Date(end) }]);
});

it('looks through tenants with a time zone in each quarter-hour', async () => {
  const zoned = await makeTenant(db());
  await inTransaction(db(), (tx) => insertTimeZone(tx, zoned, 'Pacific/Kiritimati', parseMonth('2026-05')!));
  await post(db(), zoned, { kind: 'adjustment', amount: 5n });
  // Months end at 10:00 UTC there.
  await moveInTime(db(), zoned, ['2026-11-30T09:59:59.999Z']);
  let now = '';
  const turn = tellingStatements(depsOn(db()), async () => new Date(now));
  const toldAt = async (time: string) => {
    now = time;
    await turn();
    return (await readyOf(zoned)).length;
  };
  expect(await toldAt('2026-11-30T09:50:00Z')).toBe(0);
  expect(await toldAt('2026-11-30T10:14:59.999Z')).toBe(0);
  expect(await toldAt('2026-11-30T10:15:00Z')).toBe(1);
  expect(await toldAt('2026-12-01T00:15:00Z')).toBe(1);
});
