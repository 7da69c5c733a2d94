/** The rooms of a runway, whose sums are of hours, days and weeks, equal the records. Grants count until they end. */
import { beforeAll, expect, test } from 'vitest';
import { findBalance } from '../../../src/money/accounts/accounts.sql.ts';
import { grantCredit } from '../../../src/money/grants/grant-credit.ts';
import { getBurns, getRunway } from '../../../src/money/runway/get-runway.ts';
import { foldUsage } from '../../../src/money/usage/fold-usage.ts';
import { manyRecords, report } from '../../doors/rest/ledger-routes.ts';
import { moveInTime, post } from '../../support/months.ts';
import { type TestTenant, useService } from '../../support/service.ts';
import { idOf, makeTenant, OPERATOR } from '../../support/tenants.ts';
import { endNow, spend } from '../grants/support.ts';

const app = useService();
const HOUR_MS = 3_600_000;
let tenant: TestTenant;

/** A posting of each seventh hour of nine days, the last one now. */
beforeAll(async () => {
  tenant = await app.signUp();
  const now = Date.now();
  const times = Array.from({ length: 31 }, (_, at) => new Date(now - (30 - at) * 7 * HOUR_MS).toISOString());
  for (const _ of times) await report(app, tenant, manyRecords(5));
  await moveInTime(app.service.deps.db, idOf(tenant), times);
});

test.each([
  ['7d', 'as deltas'],
  ['24h', 'as deltas'],
  ['7d', 'added up'],
  ['24h', 'added up'],
] as const)('rooms of %s, %s', async (window, state) => {
  const { db } = app.service.deps;
  if (state === 'added up') await foldUsage({ db });
  const { rooms } = await getRunway(db, idOf(tenant), window);
  const { rows } = await db.query(
    `select coalesce(r.room, '') as room, sum(r.amount)::bigint as amount
       from usage_records r join postings p on p.tenant_id = r.tenant_id and p.seq = r.posting_seq
      where r.tenant_id = $1 and p.at >= $2 group by 1 having sum(r.amount) > 0 order by 2 desc, coalesce(r.room, '') collate "C"`,
    [idOf(tenant), rooms.from],
  );
  expect(rows.length).toBeGreaterThan(2);
  expect(rooms.top.map(({ room, amount }) => ({ room, amount }))).toEqual(rows);
  expect(rooms.spent).toBe(rows.reduce((sum, { amount }) => sum + amount, 0n));
});

test('credit that ends before it could be spent does not count, also while no posting has taken it yet', async () => {
  const { db } = app.service.deps;
  const granted = await makeTenant(db, { status: 'active' });
  const hoursLeft = async () =>
    (await getBurns(db, granted)).burns.find(({ window }) => window === '24h')!.hours;
  await post(db, granted, { kind: 'adjustment', amount: 5n });
  const expiresAt = new Date(Date.now() + 10 * HOUR_MS);
  const given = { amount: 1_000n, reason: 'a gift', key: undefined };
  await grantCredit(db, OPERATOR, granted, { ...given, expiresAt });
  await spend(db, granted, 24n);
  expect(await hoursLeft()).toBeCloseTo(15, 1);
  await endNow(db, granted);
  expect([await findBalance(db, granted), await hoursLeft()]).toEqual([981n, 5]);
  await grantCredit(db, OPERATOR, granted, { ...given, amount: 7n, expiresAt: undefined });
  expect(await hoursLeft()).toBe(12);
});
