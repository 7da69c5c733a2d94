import { beforeAll, describe, expect, test } from 'vitest';
import { foldUsage } from '../../../src/money/usage/fold-usage.ts';
import { moveInTime, post } from '../../support/months.ts';
import { type TestTenant, usageRecord, useService } from '../../support/service.ts';
import { idOf } from '../../support/tenants.ts';
import { TIMESTAMP } from '../../support/timestamp.ts';
import { report, setExempt } from './ledger-routes.ts';
import { amount, expectError, expectOk, setStatus } from './support.ts';

const app = useService();
let tenant: TestTenant;
/** What the records of each posting cost, in micros. */
const cost: Record<string, number> = {};

const db = () => app.service.deps.db;
const get = (query = '', key: string | undefined = tenant.key) =>
  app.request('GET', `/v1/billing/runway${query}`, { key });
const runwayOf = async (query = '', key = tenant.key) => expectOk(await get(query, key));
const usage = (room: string, hours: number) =>
  Array.from({ length: hours }, () =>
    usageRecord({ ...(room && { room }), tier: 'full_hd', seconds: 3600, egress_bytes: 1_350_000_000 }),
  );
const ago = (minutes: number) => new Date(Date.now() - minutes * 60_000).toISOString();

beforeAll(async () => {
  tenant = await app.paidTenant();
  for (const [room, hours] of [
    ['old', 5],
    ['week', 4],
    ['day', 3],
    ['hour', 2],
  ] as const) {
    cost[room] = (await report(app, tenant, usage(room, hours))).total.micros;
  }
  await post(db(), idOf(tenant), { kind: 'adjustment', amount: 7_000_000n });
  // The payment, the four reports, and the adjustment.
  await moveInTime(db(), idOf(tenant), [ago(20_000), ago(10_100), ago(10_060), ago(1_400), ago(50), ago(10)]);
});

describe('GET /v1/billing/runway', () => {
  test('200: says what usage took, what it takes an hour, and when the credit is spent', async () => {
    const { week, day, hour, old } = cost as { week: number; day: number; hour: number; old: number };
    const balance = 27_000_000 - old - week - day - hour;
    const body = await runwayOf();
    const burnOf = (window: string, spent: number, hours: number) => {
      const perHour = Math.ceil(spent / hours);
      return {
        window,
        spent: amount(spent),
        per_hour: amount(perHour),
        runway_hours: Math.floor((balance * 100) / perHour) / 100,
        empty_at: new Date(Date.parse(body.at) + Math.floor((balance * 3_600_000) / perHour)).toISOString(),
      };
    };
    expect(body).toStrictEqual({
      at: expect.stringMatching(TIMESTAMP),
      balance: amount(balance),
      empty: false,
      burn: [burnOf('1h', hour, 1), burnOf('24h', hour + day, 24), burnOf('7d', hour + day + week, 168)],
      rooms: {
        window: '24h',
        from: expect.stringMatching(/T\d\d:00:00\.000Z$/),
        spent: amount(hour + day),
        top: [
          { room: 'day', amount: amount(day), share: Math.floor((day * 1e6) / (hour + day)) / 1e6 },
          { room: 'hour', amount: amount(hour), share: Math.floor((hour * 1e6) / (hour + day)) / 1e6 },
        ],
      },
    });
    expect(Math.abs(Date.parse(body.at) - Date.now())).toBeLessThan(60_000);
  });

  test('200: a charge is in the next answer, before its sums are folded and after', async () => {
    const fresh = await app.paidTenant();
    for (let turn = 0; turn < 3; turn += 1) {
      await report(app, fresh, usage('stage', 1));
      if (turn === 1) await foldUsage({ db: db() });
      const { balance, burn, rooms } = await runwayOf('?window=1h', fresh.key);
      const spent = 20_000_000 - balance.micros;
      expect(burn.map((each: { spent: object }) => each.spent)).toEqual([spent, spent, spent].map(amount));
      expect(rooms).toMatchObject({ window: '1h', spent: amount(spent), top: [{ room: 'stage', share: 1 }] });
    }
  });

  test('200: the ten rooms that cost most; no room is the empty one', async () => {
    const fresh = await app.paidTenant();
    const records = Array.from({ length: 12 }, (_, at) =>
      usage(at === 11 ? '' : `room-${at}`, at + 1),
    ).flat();
    await report(app, fresh, records);
    const { top, spent } = (await runwayOf('?window=7d', fresh.key)).rooms;
    expect(top.map(({ room }: { room: string }) => room)).toEqual([
      '',
      ...Array.from({ length: 9 }, (_, at) => `room-${10 - at}`),
    ]);
    expect(spent.micros).toBeGreaterThan(
      top.reduce((sum: number, each: { amount: { micros: number } }) => sum + each.amount.micros, 0),
    );
  });

  test('200: without usage the credit lasts for ever', async () => {
    const { key } = await app.paidTenant();
    const body = await runwayOf('', key);
    expect(body.empty).toBe(false);
    expect(body.burn).toHaveLength(3);
    for (const burn of body.burn) {
      expect(burn).toMatchObject({
        spent: amount(0),
        per_hour: amount(0),
        runway_hours: null,
        empty_at: null,
      });
    }
    expect(body.rooms).toMatchObject({ spent: amount(0), top: [] });
  });

  test('200: without credit there is no time at which it is spent', async () => {
    const fresh = await app.signUp();
    await report(app, fresh, usage('stage', 1));
    const body = await runwayOf('', fresh.key);
    expect(body).toMatchObject({ balance: amount(-25_146), empty: true });
    for (const burn of body.burn) expect(burn).toMatchObject({ runway_hours: 0, empty_at: null });
  });

  test('200: what an exempt tenant uses is no burn', async () => {
    const fresh = await app.paidTenant();
    await setExempt(app, fresh, true);
    await report(app, fresh, usage('stage', 1));
    const body = await runwayOf('', fresh.key);
    expect(body.burn[0]).toMatchObject({ spent: amount(0), runway_hours: null });
    expect(body.rooms).toMatchObject({ spent: amount(0), top: [] });
  });

  test.each(['', 'x', '1H', '24h,7d', '24'])('400: refuses the window %j', async (window) => {
    const answer = await get(`?window=${window}`);
    expect([answer.status, answer.json.error]).toEqual([
      400,
      expect.stringMatching(/^invalid request: window must be /),
    ]);
  });

  test('401: without a key, with a wrong one, or with one of a relay', async () => {
    for (const key of [undefined, 'svc_0123456789abcdef_x', tenant.relayKey]) {
      const answer = await app.request('GET', '/v1/billing/runway', { key });
      expectError(answer, 401, 'invalid api key');
    }
  });

  test.each(['suspended', 'archived', 'deleted'] as const)('403: the tenant is %s', async (status) => {
    const fresh = await app.paidTenant();
    await setStatus(app, fresh, status);
    const billing = await app.request('GET', '/v1/billing', { key: fresh.key });
    expectError(await get('', fresh.key), billing.status, billing.json.error);
  });
});
