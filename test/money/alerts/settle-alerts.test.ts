import fc from 'fast-check';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { openPool } from '../../../src/base/db/pool.ts';
import { inTransaction } from '../../../src/base/db/transaction.ts';
import { newId } from '../../../src/base/lib/ids.ts';
import { lockAccount } from '../../../src/money/accounts/accounts.sql.ts';
import { RUNWAY_RECOVERS_AT } from '../../../src/money/alerts/alert-threshold.ts';
import { appendPosting } from '../../../src/money/ledger/ledger.sql.ts';
import { UsageRecords } from '../../../src/money/records/usage-records.ts';
import { setExempt } from '../../../src/money/tenant-status/change-status.ts';
import { chargeTenant } from '../../../src/money/usage/charge-usage.ts';
import { compareAlerts } from '../../../src/money/verification/compare-alerts.sql.ts';
import { report } from '../../doors/rest/ledger-routes.ts';
import { expectOk } from '../../doors/rest/support.ts';
import { checkLedger } from '../../support/check-ledger.ts';
import { eventsOf } from '../../support/events.ts';
import { post } from '../../support/months.ts';
import { ask, type TestTenant, usageRecord, useService } from '../../support/service.ts';
import { idOf, OPERATOR } from '../../support/tenants.ts';
import { alertsByLedger, alertsOf, balance, lastSeq, setAlerts } from './support.ts';

const DOLLAR = 1_000_000;

const app = useService();
const db = () => app.service.deps.db;

/** A tenant with 20 dollars. */
const paid = () => app.paidTenant();
const get = async ({ key }: TestTenant) =>
  expectOk(await app.request('GET', '/v1/alerts', { key })).thresholds;
/** One host of an hour costs 25,146 micros. */
const hour = () => usageRecord({ tier: 'full_hd', seconds: 3600, egress_bytes: 1_350_000_000 });
/** The same, as a relay's report has been read. */
const HOUR = {
  room: undefined,
  participant: undefined,
  role: 'host',
  tier: 'full_hd',
  seconds: 3600,
  egressBytes: 1_350_000_000n,
  ingressBytes: 0n,
} as const;

afterAll(async () => {
  expect(await checkLedger(db())).toEqual([]);
  expect(await compareAlerts(db())).toEqual([]);
});

const adjust = (tenant: TestTenant, amount: bigint) =>
  post(db(), idOf(tenant), { kind: 'adjustment', amount });

describe('a charge', () => {
  it('raises each threshold that it crosses, the highest first, in its own commit', async () => {
    const tenant = await paid();
    await setAlerts(app, tenant, balance(19_999_999), balance(20 * DOLLAR), balance(5 * DOLLAR));
    expect(await alertsOf(db(), idOf(tenant))).toEqual([]);
    await report(app, tenant, [hour()]);
    expect(await alertsOf(db(), idOf(tenant))).toEqual([
      'balance_low 20000000 at 19974854',
      'balance_low 19999999 at 19974854',
    ]);
    expect(await get(tenant)).toEqual([
      { ...balance(20 * DOLLAR), raised_at: expect.any(String) },
      { ...balance(19_999_999), raised_at: expect.any(String) },
      { ...balance(5 * DOLLAR), raised_at: null },
    ]);
    await report(app, tenant, [hour()]);
    expect(await alertsOf(db(), idOf(tenant))).toHaveLength(2);
  });

  it('leaves no alert if its transaction fails', async () => {
    const tenant = await paid();
    await setAlerts(app, tenant, balance(5 * DOLLAR));
    await expect(
      inTransaction(db(), async (tx) => {
        await appendPosting(tx, await lockAccount(tx, idOf(tenant)), {
          kind: 'adjustment',
          amount: -16_000_000n,
        });
        throw new Error('on purpose');
      }),
    ).rejects.toThrow('on purpose');
    expect(await alertsOf(db(), idOf(tenant))).toEqual([]);
    expect(await get(tenant)).toMatchObject([{ raised_at: null }]);
    await adjust(tenant, -16_000_000n);
    expect(await alertsOf(db(), idOf(tenant))).toEqual(['balance_low 5000000 at 4000000']);
  });

  it('of two postings in one transaction, each is compared', async () => {
    const tenant = await paid();
    await setAlerts(app, tenant, balance(5 * DOLLAR));
    await inTransaction(db(), async (tx) => {
      let account = await lockAccount(tx, idOf(tenant));
      for (const amount of [-16_000_000n, 1_000_000n, -1n, 1n]) {
        account = await appendPosting(tx, account, { kind: 'adjustment', amount });
      }
    });
    expect(await alertsOf(db(), idOf(tenant))).toEqual([
      'balance_low 5000000 at 4000000',
      'balance_recovered 5000000 at 5000000',
      'balance_low 5000000 at 4999999',
      'balance_recovered 5000000 at 5000000',
    ]);
  });

  it('that crosses nothing runs the same statements as without thresholds', async () => {
    const tenant = await paid();
    const counted = openPool(app.config.databaseUrl, { max: 1 });
    try {
      const client = await counted.connect();
      const query = vi.spyOn(client, 'query');
      client.release();
      const charge = async () => {
        query.mockClear();
        const batch = { tenant: idOf(tenant), records: UsageRecords.from([{ ...HOUR, id: newId('r') }]) };
        await chargeTenant({ ...app.service.deps, db: counted }, idOf(tenant), [batch]);
        return query.mock.calls.map(([given]: unknown[]) => {
          const { statements } = given as { statements?: readonly { name: string }[] };
          return statements?.map(({ name }) => name) ?? given;
        });
      };
      await charge();
      const without = await charge();
      // The account is read before it is locked.
      expect(without).toHaveLength(4);
      await setAlerts(app, tenant, balance(5 * DOLLAR), balance(30 * DOLLAR));
      expect(await charge()).toEqual(without);
      await setAlerts(app, tenant, balance(19_920_000));
      expect((await charge()).length).toBeGreaterThan(without.length);
    } finally {
      await counted.end();
    }
  });
});

describe('other changes of a balance', () => {
  it('a payment ends the alert, at the threshold and not below it', async () => {
    const tenant = await app.signUp();
    await setAlerts(app, tenant, balance(20 * DOLLAR), balance(20 * DOLLAR + 1));
    expect(await alertsOf(db(), idOf(tenant))).toEqual([
      'balance_low 20000001 at 0',
      'balance_low 20000000 at 0',
    ]);
    await app.pay(tenant);
    expect((await alertsOf(db(), idOf(tenant))).slice(2)).toEqual(['balance_recovered 20000000 at 20000000']);
  });

  it('a refund raises it', async () => {
    const tenant = await app.signUp();
    const { payment } = await app.pay(tenant);
    await setAlerts(app, tenant, balance(5 * DOLLAR));
    await app.stripe.refunds.create({ payment_intent: payment });
    await app.settled();
    expect(await alertsOf(db(), idOf(tenant))).toEqual(['balance_low 5000000 at 0']);
  });
});

describe('an exempt tenant', () => {
  it('is not alerted, and is when the exemption ends', async () => {
    const tenant = await paid();
    await setExempt(db(), OPERATOR, idOf(tenant), true);
    await setAlerts(app, tenant, balance(20 * DOLLAR + 1), balance(DOLLAR));
    await report(app, tenant, [hour()]);
    await adjust(tenant, -1n);
    expect(await alertsOf(db(), idOf(tenant))).toEqual([]);
    await setExempt(db(), OPERATOR, idOf(tenant), false);
    expect(await alertsOf(db(), idOf(tenant))).toEqual(['balance_low 20000001 at 19999999']);
    await setExempt(db(), OPERATOR, idOf(tenant), true);
    await adjust(tenant, 2n);
    expect(await alertsOf(db(), idOf(tenant))).toHaveLength(1);
    await setExempt(db(), OPERATOR, idOf(tenant), false);
    expect((await alertsOf(db(), idOf(tenant))).slice(1)).toEqual(['balance_recovered 20000001 at 20000001']);
  });
});

describe('a balance that moves around thresholds', () => {
  it('1,000 times, beside charges by two processes, raises one alert for each crossing', {
    timeout: 300_000,
  }, async () => {
    const tenant = await paid();
    const id = idOf(tenant);
    const other = await app.another();
    const after = await lastSeq(db(), id);
    const thresholds = [19 * DOLLAR, 19 * DOLLAR - 30_000];
    await setAlerts(app, tenant, ...thresholds.map(balance));
    let isOver = false;
    const relays = [app.url, other.url].map(async (url) => {
      let charges = 0;
      while (!isOver) {
        const body = { records: [usageRecord({ seconds: 1 })] };
        expectOk(await ask(`${url}/v1/usage`, 'POST', { key: tenant.relayKey, body }));
        charges += 1;
      }
      return charges;
    });
    try {
      for (let turn = 0; turn < 1_000; turn += 1) {
        await adjust(tenant, -1_100_000n);
        await adjust(tenant, 1_100_000n);
      }
    } finally {
      isOver = true;
    }
    for (const charges of await Promise.all(relays)) expect(charges).toBeGreaterThan(50);
    const expected = await alertsByLedger(db(), id, thresholds, { after });
    expect(expected.length).toBeGreaterThanOrEqual(2_000);
    expect(await alertsOf(db(), id)).toEqual(expected);
  });

  it('and thresholds that change meanwhile raise what the rules call for', { timeout: 300_000 }, async () => {
    const micros = fc.integer({ min: 0, max: 30 }).map((each) => each * 10_000);
    const step = fc.oneof(
      {
        weight: 4,
        arbitrary: fc.record({ move: fc.integer({ min: -15, max: 15 }).map((each) => each * 10_000) }),
      },
      { weight: 2, arbitrary: fc.record({ records: fc.integer({ min: 1, max: 4 }) }) },
      { weight: 2, arbitrary: fc.record({ set: fc.uniqueArray(micros, { maxLength: 5 }) }) },
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
        const tenant = await app.signUp();
        const id = idOf(tenant);
        const expected: string[] = [];
        const raised = new Set<number>();
        let thresholds: number[] = [];
        for (const each of steps) {
          const after = await lastSeq(db(), id);
          if ('set' in each) {
            const now = await balanceOf(tenant);
            const added = each.set.filter((below) => !thresholds.includes(below)).sort((a, b) => b - a);
            thresholds = each.set;
            for (const below of raised) if (!thresholds.includes(below)) raised.delete(below);
            for (const below of added) {
              if (now >= below) continue;
              raised.add(below);
              expected.push(`balance_low ${below} at ${now}`);
            }
            const set = await setAlerts(app, tenant, ...thresholds.map(balance));
            const shown = set.filter((one: { raised_at: unknown }) => one.raised_at !== null);
            expect(shown.map((one: { below_micros: number }) => one.below_micros)).toEqual(
              [...raised].sort((a, b) => b - a),
            );
            continue;
          }
          if ('move' in each) await adjust(tenant, BigInt(each.move));
          else await report(app, tenant, Array.from({ length: each.records }, hour));
          expected.push(...(await alertsByLedger(db(), id, thresholds, { after, raised })));
        }
        expect(await alertsOf(db(), id)).toEqual(expected);
      }),
      { numRuns: 40 },
    );
  });
});

async function balanceOf(tenant: TestTenant): Promise<number> {
  const { rows } = await db().query('select balance from accounts where tenant_id = $1', [idOf(tenant)]);
  return Number(rows[0].balance);
}

describe('the events', () => {
  it('have amounts as texts', async () => {
    const tenant = await paid();
    await setAlerts(app, tenant, balance(20 * DOLLAR));
    await adjust(tenant, -1n);
    await adjust(tenant, 1n);
    expect(await eventsOf(db(), idOf(tenant))).toEqual([
      { type: 'balance_low', subject: { balance: '19999999', below: '20000000' } },
      { type: 'balance_recovered', subject: { balance: '20000000', below: '20000000' } },
    ]);
  });
});

it('of hours ends at what the constant says, in the database too', async () => {
  const { rows } = await db().query<{ text: string }>(
    `select pg_get_expr(adbin, adrelid) as text from pg_attrdef join pg_attribute on attrelid = adrelid and attnum = adnum
      where adrelid = 'alert_thresholds'::regclass and attname = 'recover_from'`,
  );
  expect(rows[0]!.text).toContain(`* ${RUNWAY_RECOVERS_AT})`);
});
