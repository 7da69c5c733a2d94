import { describe, expect, it } from 'vitest';
import { makeLog } from '../../../src/base/telemetry/log.ts';
import { adjustCredit } from '../../../src/money/ledger/adjust-credit.ts';
import { checkLedger } from '../../support/check-ledger.ts';
import { type TestTenant, usageRecord, useService } from '../../support/service.ts';
import { idOf, OPERATOR } from '../../support/tenants.ts';

const lines: string[] = [];
const app = useService({ log: makeLog('error', { write: (line: string) => void lines.push(line) }) });
const db = () => app.service.deps.db;

const LOWEST = -(2n ** 63n);
const HIGHEST = 2n ** 63n - 1n;

/** A tenant whose balance is this far above the lowest or, negative, below the highest balance. */
async function tenantNear(edge: bigint, distance: bigint): Promise<TestTenant> {
  const tenant = await app.signUp();
  await adjust(tenant, edge + distance);
  return tenant;
}

async function adjust(tenant: TestTenant, amount: bigint) {
  return adjustCredit(db(), OPERATOR, idOf(tenant), { amount, reason: 'test', id: undefined });
}

async function balanceOf(tenant: TestTenant): Promise<bigint> {
  const { rows } = await db().query('select balance from accounts where tenant_id = $1', [idOf(tenant)]);
  return rows[0].balance;
}

/** A record that costs 12,000 micros. */
const RECORD = { tier: '2k_plus', seconds: 60, egress_bytes: 2 ** 52 };

function report(tenant: TestTenant, records: readonly unknown[]) {
  return app.request('POST', '/v1/usage', { key: tenant.relayKey, body: { records } });
}

/** How often operators were alarmed: by the metric, and by the log about this tenant. */
async function alarms(tenant: TestTenant): Promise<{ counted: number; logged: number }> {
  const { values } = await app.service.deps.metrics.balanceRefusals.get();
  const about = lines.map((line) => JSON.parse(line)).filter((line) => line.tenant === tenant.id);
  expect(about.every(({ msg }) => msg.includes('would leave the range of 64 bits'))).toBe(true);
  return { counted: values[0]!.value, logged: about.length };
}

describe('a charge that would take the balance below 64 bits', () => {
  it('is refused as a whole, alarms operators, and is charged once the balance was adjusted', async () => {
    const tenant = await tenantNear(LOWEST, 20_000n);
    const before = await alarms(tenant);
    const batch = [usageRecord(RECORD), usageRecord(RECORD)];
    const refused = await report(tenant, batch);
    expect(refused).toMatchObject({
      status: 503,
      json: { error: 'the batch cannot be charged until an operator has adjusted the balance: try again' },
    });
    expect(refused.headers.get('retry-after')).toBe('60');
    expect(await balanceOf(tenant)).toBe(LOWEST + 20_000n);
    expect(await alarms(tenant)).toEqual({ counted: before.counted + 1, logged: 1 });

    expect(await report(tenant, batch.slice(0, 1))).toMatchObject({ status: 200, json: { charged: 1 } });
    await adjust(tenant, 1_000_000n);
    const retried = await report(tenant, batch);
    expect(retried).toMatchObject({ status: 200, json: { charged: 1, duplicates: 1 } });
    expect(await balanceOf(tenant)).toBe(LOWEST + 20_000n + 1_000_000n - 24_000n);
    expect(await checkLedger(db())).toEqual([]);
  });

  it('delays no batch that goes with it', async () => {
    const tenant = await tenantNear(LOWEST, 0n);
    const others = await Promise.all(Array.from({ length: 8 }, () => app.paidTenant()));
    const answers = await Promise.all([
      ...others.map((other) => report(other, [usageRecord(RECORD)])),
      report(tenant, [usageRecord(RECORD)]),
      ...others.map((other) => report(other, [usageRecord(RECORD)])),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([...Array(8).fill(200), 503, ...Array(8).fill(200)]);
    expect(await checkLedger(db())).toEqual([]);
  });
});

describe('a payment that would take the balance above 64 bits', () => {
  it('is refused, alarms operators, and is credited once the balance was adjusted', async () => {
    const tenant = await tenantNear(HIGHEST, -1_000_000n);
    app.sandbox.control.fault({ effect: 'drop', event: 'checkout.session.completed' });
    const { payment } = await app.pay(tenant, { cents: 1000 });
    expect(await balanceOf(tenant)).toBe(HIGHEST - 1_000_000n);
    expect((await alarms(tenant)).logged).toBeGreaterThan(0);
    await adjust(tenant, -100_000_000n);
    const delivery = app.sandbox.control
      .deliveries()
      .find((each) => each.type === 'payment_intent.succeeded' && each.status !== 'delivered')!;
    await app.sandbox.control.redeliver(delivery.id);
    await app.settled();
    expect(await balanceOf(tenant)).toBe(HIGHEST - 91_000_000n);
    const { rows } = await db().query('select credited from payments where id = $1', [payment]);
    expect(rows).toEqual([{ credited: 10_000_000n }]);
  });
});

it('an adjustment that would leave 64 bits is refused with a reason', async () => {
  const tenant = await tenantNear(HIGHEST, 0n);
  await expect(adjust(tenant, 1n)).rejects.toThrow(/^the balance of t_\w+ would leave the range of 64 bits$/);
  expect(await balanceOf(tenant)).toBe(HIGHEST);
});
