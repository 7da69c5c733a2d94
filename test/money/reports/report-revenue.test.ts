/** The revenue of a month, over months in which everything happens. */
import { afterEach, beforeEach, describe, expect, it, test } from 'vitest';
import type { TenantId } from '../../../src/base/tenants/tenant.ts';
import { grantCredit } from '../../../src/money/grants/grant-credit.ts';
import { adjustCredit } from '../../../src/money/ledger/adjust-credit.ts';
import { monthOf, parseMonth } from '../../../src/money/month.ts';
import { type RevenueReport, reportRevenue } from '../../../src/money/reports/report-revenue.ts';
import { foldUsage } from '../../../src/money/usage/fold-usage.ts';
import { withoutTriggers } from '../../support/append-only.ts';
import { moveInTime, resetSums } from '../../support/months.ts';
import { type TestTenant, usageRecord } from '../../support/service.ts';
import { OPERATOR } from '../../support/tenants.ts';
import { usePayments } from '../payments/support.ts';

const kit = usePayments();
const { app, db, idOf } = kit;

const report = (month: string, tenant?: TestTenant) =>
  reportRevenue(db(), parseMonth(month)!, tenant && idOf(tenant));

/** The report in cents, without what it says about time. */
async function centsOf(month: string, tenant?: TestTenant) {
  const { month: _, soFar, asOf, opening, closing, ...changes } = await report(month, tenant);
  const cents = (micros: bigint) => Number(micros) / 10_000;
  const credit = ({ total, unused, owed }: RevenueReport['opening']) => [total, unused, owed].map(cents);
  const entries = Object.entries(changes).map(([name, micros]) => [name, cents(micros)]);
  return { opening: credit(opening), ...Object.fromEntries(entries), closing: credit(closing) };
}

interface Moved {
  readonly tenant: TenantId;
  readonly seq: bigint;
  readonly ownAt: string;
  readonly toldAt: string;
}

const moved: Moved[] = [];

/** Postings have another time in tests, and their own between tests, because other tables agree with it. */
async function giveTimes(which: 'toldAt' | 'ownAt'): Promise<void> {
  await withoutTriggers(db(), ['postings'], async (tx) => {
    for (const { tenant, seq, [which]: at } of moved) {
      await tx.query('update postings set at = $3 where tenant_id = $1 and seq = $2', [tenant, seq, at]);
    }
    for (const tenant of new Set(moved.map((each) => each.tenant))) await resetSums(tx, tenant);
  });
}

beforeEach(() => giveTimes('toldAt'));
afterEach(() => giveTimes('ownAt'));

/** Everything that happened and was moved to no time yet, happened then. */
async function itWas(time: string): Promise<void> {
  await app.settled();
  const { rows } = await db().query<Omit<Moved, 'toldAt'>>(
    'select tenant_id as tenant, seq, at::text as "ownAt" from postings',
  );
  for (const row of rows) {
    if (moved.some(({ tenant, seq }) => tenant === row.tenant && seq === row.seq)) continue;
    moved.push({ ...row, toldAt: new Date(Date.parse(time) + Number(row.seq) * 1000).toISOString() });
  }
  await giveTimes('toldAt');
}

const adjust = (tenant: TestTenant, cents: number) =>
  adjustCredit(db(), OPERATOR, idOf(tenant), {
    amount: BigInt(cents) * 10_000n,
    reason: 'test',
    id: undefined,
  });

const NOTHING = {
  payments: 0,
  usage: 0,
  paidByGrants: 0,
  refunds: 0,
  disputes: 0,
  adjustments: 0,
  corrections: 0,
  grants: 0,
  grantsEnded: 0,
  unbilled: 0,
};

describe('over three months', () => {
  let one: TestTenant;
  let two: TestTenant;

  it('the first month has payments, usage, refunds and a dispute', async () => {
    one = await app.paidTenant({ cents: 5000 });
    two = await app.paidTenant({ cents: 3000 });
    const { payment } = await app.pay(one, { cents: 2000 });
    await kit.spend(one, 1200);
    await kit.spend(two, 700);
    app.sandbox.control.refund(payment, { amount: 500 });
    app.sandbox.control.refund(payment, { amount: 300, outcome: 'failed' });
    app.sandbox.control.dispute((await app.pay(two, { cents: 1000 })).payment);
    await itWas('2025-01-15');

    expect(await centsOf('2025-01')).toEqual({
      ...NOTHING,
      opening: [0, 0, 0],
      payments: 11_000,
      usage: -1_900,
      refunds: -500,
      disputes: -1_000,
      closing: [7_600, 7_600, 0],
    });
    expect(await centsOf('2025-01', two)).toEqual({
      ...NOTHING,
      opening: [0, 0, 0],
      payments: 4_000,
      usage: -700,
      disputes: -1_000,
      closing: [2_300, 2_300, 0],
    });
  });

  it('the second has automatic top-ups, adjustments, unbilled usage, and a tenant that owes', async () => {
    await kit.setTopUp(one, { enabled: true, below_cents: 5200, amount_cents: 2000 });
    await kit.spend(one, 200);
    expect(await kit.finished(one)).toMatchObject({ state: 'succeeded' });
    await adjust(one, 150);
    await adjust(two, -50);
    await kit.spend(two, 1000);
    await kit.spend(two, 1500);
    const exempt = await app.signUp();
    await db().query('update tenants set exempt = true where id = $1', [idOf(exempt)]);
    const records = [usageRecord({ tier: '2k_plus', seconds: 5000, egress_bytes: 2 ** 52 })];
    const answer = await app.request('POST', '/v1/usage', { key: exempt.relayKey, body: { records } });
    expect(answer.json).toMatchObject({ unbilled: 1 });
    await itWas('2025-02-15');

    expect(await centsOf('2025-02')).toEqual({
      ...NOTHING,
      opening: [7_600, 7_600, 0],
      payments: 2_000,
      usage: -2_700,
      adjustments: 100,
      unbilled: 100,
      closing: [7_000, 7_250, -250],
    });
    expect(await centsOf('2025-02', exempt)).toEqual({
      ...NOTHING,
      opening: [0, 0, 0],
      unbilled: 100,
      closing: [0, 0, 0],
    });
  });

  it('the third is still going on', async () => {
    const { disputes } = app.stripe;
    const [dispute] = (await disputes.list({ limit: 1 })).data;
    app.sandbox.control.winDispute(dispute!.id, { amount: 400 });
    await app.settled();
    const month = new Date().toISOString().slice(0, 7);
    expect(await centsOf(month)).toEqual({
      ...NOTHING,
      opening: [7_000, 7_250, -250],
      disputes: 400,
      closing: [7_400, 7_400, 0],
    });
    expect(await report(month)).toMatchObject({ soFar: true, asOf: expect.any(Date) });
    expect(await report('2025-02')).toMatchObject({ soFar: false });
  });

  it('each month ends where the next one begins, also without postings', async () => {
    const months = ['2024-12', '2025-01', '2025-02', '2025-03', '2025-12'];
    const reports = await Promise.all(months.map((month) => report(month)));
    expect(reports.slice(1).map(({ opening }) => opening)).toEqual(
      reports.slice(0, -1).map(({ closing }) => closing),
    );
    expect(await centsOf('2025-03')).toEqual({
      ...NOTHING,
      opening: [7_000, 7_250, -250],
      closing: [7_000, 7_250, -250],
    });
  });

  it('the instant of a new month belongs to it', async () => {
    const tenant = await app.paidTenant({ cents: 1000 });
    // Its first posting is a second later.
    await itWas('2025-10-31T23:59:59Z');
    expect((await report('2025-10', tenant)).payments).toBe(0n);
    expect((await report('2025-11', tenant)).payments).toBe(10_000_000n);
  });
});

it('refuses a month that has not begun', async () => {
  await expect(report('2999-01')).rejects.toThrow('invalid request: month 2999-01 has not begun');
});

it('throws when the ledger does not add up, and names the tenant', async () => {
  const tenant = await app.paidTenant({ cents: 1000 });
  await app.paidTenant({ cents: 1000 });
  await db().query(`do $$ declare name text; begin
    select conname into name from pg_constraint
     where conrelid = 'postings'::regclass and pg_get_constraintdef(oid) like '%balance_before + amount%';
    execute format('alter table postings drop constraint %I', name);
  end $$`);
  const change = (micros: number) =>
    withoutTriggers(db(), ['postings'], (tx) =>
      tx.query('update postings set amount = $2 where tenant_id = $1', [idOf(tenant), micros]),
    );
  await change(10_000_001);
  const month = new Date().toISOString().slice(0, 7);
  await expect(report(month)).rejects.toThrow(`the ledger of ${month} does not add up (${tenant.id})`);
  await expect(report(month, tenant)).rejects.toThrow('lead to $10.000001, and it ends at $10.000000');
  await change(10_000_000);
  await expect(report(month, tenant)).resolves.toMatchObject({ payments: 10_000_000n });
});

test('what grants paid of usage, and what is left of them, stand apart', async () => {
  const tenant = await app.paidTenant({ cents: 1000 });
  const given = { amount: 5_000_000n, reason: 'a gift', expiresAt: new Date('2100-01-01'), key: undefined };
  await grantCredit(db(), OPERATOR, idOf(tenant), given);
  await kit.spend(tenant, 100);
  expect(await centsOf(monthOf(new Date()), tenant)).toEqual({
    ...NOTHING,
    opening: [0, 0, 0],
    payments: 1000,
    usage: -100,
    paidByGrants: -100,
    grants: 500,
    closing: [1400, 1400, 0],
  });
  const { closing } = await report(monthOf(new Date()), tenant);
  expect(closing.granted).toBe(4_000_000n);
});

test('what was not charged is what the records say, whether their sums are folded or not', async () => {
  const tenant = await app.signUp();
  await db().query('update tenants set exempt = true where id = $1', [idOf(tenant)]);
  const use = async (seconds: number) => {
    const records = [
      usageRecord({ room: `room-${seconds}`, tier: '2k_plus', seconds, egress_bytes: 2 ** 52 }),
    ];
    await app.request('POST', '/v1/usage', { key: tenant.relayKey, body: { records } });
  };
  for (const seconds of [1, 20, 300, 4_000]) await use(seconds);
  const times = [
    '2025-05-31T23:59:59.999999Z',
    '2025-06-01T00:00:00Z',
    '2025-06-30T23:59:59Z',
    '2025-07-01T00:00:00Z',
  ];
  await moveInTime(db(), idOf(tenant), times);
  const ofRecords = async () => {
    const { rows } = await db().query<{ month: string; sum: bigint }>(
      `select to_char(p.at at time zone 'UTC', 'YYYY-MM') as month, sum(r.amount)::bigint
         from usage_records r join postings p on p.tenant_id = r.tenant_id and p.seq = r.posting_seq
        where r.tenant_id = $1 group by 1 order by 1`,
      [idOf(tenant)],
    );
    return rows;
  };
  const reported = (months: readonly string[]) =>
    Promise.all(months.map(async (month) => ({ month, sum: (await report(month, tenant)).unbilled })));

  const expected = await ofRecords();
  const months = expected.map(({ month }) => month);
  expect(months).toEqual(['2025-05', '2025-06', '2025-07']);
  expect(await reported(months)).toEqual(expected);
  await foldUsage({ db: db() });
  expect(await reported(months)).toEqual(expected);
  await use(50_000);
  const now = monthOf(new Date());
  expect(await reported([...months, now])).toEqual(await ofRecords());
  expect((await report('2025-06')).unbilled).toBe(expected[1]!.sum);
});
