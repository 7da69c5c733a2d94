import { afterEach, describe, expect, test, vi } from 'vitest';
import type { TenantId } from '../../../src/base/tenants/tenant.ts';
import { UsageRecords } from '../../../src/money/records/usage-records.ts';
import { changeStatus } from '../../../src/money/tenant-status/change-status.ts';
import { UNPAID_RECORDS_PER_DAY, UnpaidRecords } from '../../../src/money/usage/unpaid-records.ts';
import { type TestTenant, usageRecord, useService } from '../../support/service.ts';
import { idOf, OPERATOR } from '../../support/tenants.ts';

const app = useService();

afterEach(() => {
  vi.useRealTimers();
});

const report = (tenant: TestTenant, count: number) =>
  app.request('POST', '/v1/usage', {
    key: tenant.relayKey,
    body: { records: Array.from({ length: count }, () => usageRecord()) },
  });

/** Leave the tenant's day so many records. */
async function leave(tenant: TestTenant, records: number): Promise<void> {
  await report(tenant, 1);
  const { rowCount } = await app.service.deps.db.query('update rate_limits set points = $2 where key = $1', [
    `unpaid_records:${tenant.id}`,
    UNPAID_RECORDS_PER_DAY - records,
  ]);
  expect(rowCount).toBe(1);
}

describe('the records of a day', () => {
  test('of a tenant that never paid are limited, until it pays', async () => {
    const tenant = await app.signUp();
    await leave(tenant, 3);
    expect(await report(tenant, 3)).toMatchObject({ status: 200, json: { charged: 3, admitted: false } });
    for (const attempt of [1, 2]) {
      const refused = await report(tenant, attempt);
      expect(refused).toMatchObject({
        status: 429,
        json: { error: 'limit reached: at most 1000000 usage records a day before the first payment' },
      });
      expect(refused.headers.get('retry-after')).toBe('60');
    }
    expect(await report(tenant, 0)).toMatchObject({ status: 200, json: { charged: 0 } });
    await app.pay(tenant, { cents: 2000 });
    await expect.poll(async () => (await report(tenant, 2)).status).toBe(200);
  });

  test('count once for each 512 bytes of their requests', async () => {
    const tenant = await app.signUp();
    await leave(tenant, 150);
    expect((await report(tenant, 50)).status).toBe(200);
    const room = '🎥'.repeat(120);
    const long = {
      records: Array.from({ length: 50 }, () => ({ ...usageRecord(), room, participant: room })),
    };
    const send = () => app.request('POST', '/v1/usage', { key: tenant.relayKey, body: long });
    expect((await send()).status).toBe(200);
    expect((await send()).status).toBe(429);
  });

  test('stay limited after it was deleted', async () => {
    const tenant = await app.signUp();
    await leave(tenant, 1);
    await changeStatus(app.service.deps.db, OPERATOR, idOf(tenant), 'deleted', 'abuse');
    expect((await report(tenant, 2)).status).toBe(429);
  });

  test('of a tenant that paid are not counted', async () => {
    const tenant = await app.paidTenant({ cents: 2000 });
    await report(tenant, 5);
    const { rows } = await app.service.deps.db.query('select from rate_limits where key = $1', [
      `unpaid_records:${tenant.id}`,
    ]);
    expect(rows).toStrictEqual([]);
  });

  test('come back when the day has ended', async () => {
    const tenant = await app.signUp();
    await leave(tenant, 0);
    await app.service.deps.db.query(
      `update rate_limits set expire = extract(epoch from now()) * 1000 where key = $1`,
      [`unpaid_records:${tenant.id}`],
    );
    expect((await report(tenant, 1)).status).toBe(200);
  });
});

test('tenants beyond the limit are forgotten when their days have ended', async () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  // Each has more than the limit, and a second left of its day.
  const query = async ({ values: [keys] }: { readonly values: readonly [string[]] }) => ({
    rows: keys.map((key) => ({ key, points: 10, msLeft: 1_000 })),
  });
  const limit = new UnpaidRecords({ query } as never, 9);
  const records = UsageRecords.from([
    {
      id: 'a',
      room: 'r',
      participant: 'p',
      role: 'host',
      tier: 'hd',
      seconds: 1,
      egressBytes: 1n,
      ingressBytes: 1n,
    },
  ]);
  const exceed = (tenant: number) =>
    expect(limit.count(BigInt(tenant) as TenantId, records)).rejects.toMatchObject({
      kind: 'too_many_requests',
    });
  for (let tenant = 1; tenant <= 1_000; tenant += 1) await exceed(tenant);
  expect(limit.remembered).toBe(1_000);
  vi.advanceTimersByTime(1_000);
  await exceed(1_001);
  expect(limit.remembered).toBe(1);
});
