import { beforeAll, describe, expect, test } from 'vitest';
import { inTransaction } from '../../../src/base/db/transaction.ts';
import { insertTimeZone } from '../../../src/money/calendar/time-zones.sql.ts';
import { endOf, type Month, monthOf, startOf } from '../../../src/money/month.ts';
import { monthsAgo, moveInTime } from '../../support/months.ts';
import { type TestTenant, useService } from '../../support/service.ts';
import { idOf } from '../../support/tenants.ts';
import { manyRecords, report } from './ledger-routes.ts';
import { expectError, expectOk, NOT_STRINGS, setStatus } from './support.ts';

const app = useService();
let tenant: TestTenant;

beforeAll(async () => {
  tenant = await app.signUp();
});

const get = (key = tenant.key) => app.request('GET', '/v1/billing/time-zone', { key });
const put = (name: unknown, key = tenant.key) =>
  app.request('PUT', '/v1/billing/time-zone', { key, body: { time_zone: name } });

test('before the first usage, changes with this month', async () => {
  const fresh = await app.signUp();
  // Within a quarter of an hour of the end of a month, it is the next one.
  const [now, soon] = [0, 900_000].map((ms) => startOf(monthOf(new Date(Date.now() + ms))).toISOString());
  expect(expectOk(await put('Asia/Kathmandu', fresh.key)).next_from ?? now).toBe(soon);
});

test('is UTC at first, and changes with the next month, of this tenant alone', async () => {
  const other = await app.signUp();
  await report(app, tenant, manyRecords(1));
  expect(expectOk(await get())).toStrictEqual({ time_zone: 'UTC' });
  const changed = expectOk(await put('Asia/Kathmandu'));
  expect(changed).toMatchObject({ time_zone: 'UTC', next_time_zone: 'Asia/Kathmandu' });
  // Within a quarter of an hour of the end of a month, it is the month after the next one.
  const next = endOf(monthOf(new Date())).getTime();
  expect([next, endOf(monthOf(new Date(next))).getTime()]).toContain(Date.parse(changed.next_from));
  expect(expectOk(await get())).toStrictEqual(changed);
  expect(expectOk(await get(other.key))).toStrictEqual({ time_zone: 'UTC' });
  expect(expectOk(await put('UTC'))).toStrictEqual({ time_zone: 'UTC' });
});

test('what changes nothing leaves no row and no entry in the audit trail', async () => {
  const fresh = await app.signUp();
  for (const name of ['UTC', 'Europe/Berlin', 'Europe/Berlin']) expectOk(await put(name, fresh.key));
  const { entries } = expectOk(
    await app.request('GET', '/v1/audit?action=time_zone_changed', { key: fresh.key }),
  );
  expect(entries).toMatchObject([{ before: { time_zone: 'UTC' }, after: { time_zone: 'Europe/Berlin' } }]);
});

describe('statements and sums', () => {
  const month = monthsAgo(2);
  const before = monthsAgo(3);
  const start = `${month}-01`;
  /** In Kathmandu, a day begins at 18:15 UTC. */
  const at = (time: string) =>
    new Date(Date.parse(start) - 86_400_000).toISOString().replace(/T.*/, `T${time}Z`);
  let zoned: TestTenant;
  const read = async (path: string) => expectOk(await app.request('GET', path, { key: zoned.key }));

  beforeAll(async () => {
    zoned = await app.signUp();
    await inTransaction(app.service.deps.db, (tx) =>
      insertTimeZone(tx, idOf(zoned), 'Asia/Kathmandu', monthsAgo(5)),
    );
    for (let count = 1; count <= 3; count += 1) await report(app, zoned, manyRecords(count));
    await moveInTime(app.service.deps.db, idOf(zoned), [at('18:14:59.999'), at('18:15:00'), at('18:30:00')]);
  });

  const recordsOf = async (of: Month) => (await read(`/v1/statements/${of}`)).statement.usage.sum.records;

  test('a statement has the zone, and its own quarters of an hour', async () => {
    const { statement } = await read(`/v1/statements/${month}`);
    expect(statement).toMatchObject({ month, from: at('18:15:00.000'), time_zone: 'Asia/Kathmandu' });
    expect([await recordsOf(before), await recordsOf(month)]).toEqual([1, 5]);
    expect((await read('/v1/statements')).statements.map((each: { month: string }) => each.month)).toEqual([
      month,
      before,
    ]);
    const page = await app.request('GET', `/v1/statements/${month}`, {
      key: zoned.key,
      headers: { accept: 'text/html' },
    });
    expect(page.text).toContain(', Asia/Kathmandu</dd>');
    expect(page.text).toContain(`${at('').slice(0, 10)} 18:15:00</time> to`);
  });

  test('sums by day are of its days, and a text without a time is such a day', async () => {
    const { from, rows } = await read(`/v1/usage/summary?group_by=day&from=${start}&to=${month}-03`);
    expect([from, rows.map((row: { day: string; records: number }) => [row.day, row.records])]).toEqual([
      at('18:15:00.000'),
      [[at('18:15:00.000'), 5]],
    ]);
    const all = await read(`/v1/usage/summary?group_by=day&from=${at('00:00:00')}&to=${month}-03`);
    expect(all.rows.map((row: { records: number }) => row.records)).toEqual([1, 5]);
  });

  test('sums by month are of its months', async () => {
    const { rows } = await read(`/v1/usage/summary?group_by=month&from=${before}-20&to=${month}-03`);
    expect(rows.map((row: { month: string; records: number }) => [row.month, row.records])).toEqual([
      [before, 1],
      [month, 5],
    ]);
  });

  test('hours are counted from the start of the period', async () => {
    const { rows } = await read(`/v1/usage/summary?group_by=hour&from=${start}&to=${month}-02`);
    expect(rows.map((row: { hour: string; records: number }) => [row.hour, row.records])).toEqual([
      [at('18:15:00.000'), 5],
    ]);
  });

  test('a period that is left open begins with a day thirty days before', async () => {
    expect((await read(`/v1/usage/summary?to=${start}`)).from).toMatch(/T18:15:00.000Z$/);
    const answer = await app.request('GET', `/v1/usage/summary?to=${at('18:30:00')}`, { key: zoned.key });
    expectError(
      answer,
      400,
      'invalid request: to must be a whole hour (UTC), or the start of a day in your time zone',
    );
  });
});

describe('400', () => {
  const wrong =
    'invalid request: time_zone must be a name of the IANA time zone database, such as Europe/Berlin';
  test.each(['Europe/Nowhere', '+05:30', 'posix/UTC', 'SystemV/PST8', 'Berlin'])(
    'refuses the name %j, which Node.js or PostgreSQL does not know',
    async (name) => expectError(await put(name), 400, wrong),
  );
  test.each([
    ['europe/berlin', 'Europe/Berlin'],
    ['Europe/BERLIN', 'Europe/Berlin'],
    ['utc', 'UTC'],
  ])('refuses %s, and says how it is spelled', async (name, spelling) => {
    const text = `invalid request: time_zone must be a name of the IANA time zone database, which spells it ${spelling}`;
    expectError(await put(name), 400, text);
  });
  test.each(NOT_STRINGS)('refuses the name %j', async (name) => {
    expectError(await put(name), 400, 'invalid request: time_zone must be string');
  });
  test('refuses other bodies', async () => {
    expectError(await put(''), 400, 'invalid request: time_zone must not be empty');
    expectError(
      await put('E'.repeat(65)),
      400,
      'invalid request: time_zone must not have more than 64 characters',
    );
    expectError(await put(undefined), 400, 'invalid request: time_zone is required');
  });
});

test('401: refuses a relay key', async () => {
  expectError(await get(tenant.relayKey), 401, 'invalid api key');
  expectError(await put('UTC', tenant.relayKey), 401, 'invalid api key');
});

test('403: refuses a tenant that is suspended', async () => {
  const fresh = await app.signUp();
  await setStatus(app, fresh, 'suspended');
  expectError(await put('Europe/Berlin', fresh.key), 403, 'tenant is not active');
  expectError(await get(fresh.key), 403, 'tenant is not active');
});
