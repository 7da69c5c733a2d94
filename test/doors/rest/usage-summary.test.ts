import { beforeAll, describe, expect, test } from 'vitest';
import { renderPageToken } from '../../../src/base/lib/page-token.ts';
import { foldUsage } from '../../../src/money/usage/fold-usage.ts';
import { type TestTenant, useService } from '../../support/service.ts';
import { manyRecords, report, setExempt } from './ledger-routes.ts';
import { amount, expectError, expectOk, setStatus } from './support.ts';

const app = useService();
let tenant: TestTenant;
let reported: Record<string, unknown>[];

beforeAll(async () => {
  tenant = await app.paidTenant({ cents: 5000 });
  await report(app, await app.paidTenant(), manyRecords(30));
  const batches = [manyRecords(40), manyRecords(7), manyRecords(1), manyRecords(90)];
  for (const batch of batches) await report(app, tenant, batch);
  reported = batches.flat();
});

const ask = (query = '', of = tenant) => app.request('GET', `/v1/usage/summary${query}`, { key: of.key });
const summarize = async (query = '', of = tenant) => expectOk(await ask(query, of));

const STARTS = { hour: /:00:00.000Z$/, day: /T00:00:00.000Z$/, month: /^\d{4}-\d\d$/ } as const;
const GROUPINGS_ERROR =
  'group_by must be of hour, day, month, room, role, tier, participant, key, customer, separated by commas';

interface Row {
  readonly room?: string;
  readonly role?: string;
  readonly tier?: string;
  readonly day?: string;
  readonly hour?: string;
  readonly month?: string;
  readonly records: number;
  readonly seconds: number;
  readonly egress_bytes: number;
  readonly ingress_bytes: number;
  readonly total: { micros: number };
  readonly unbilled: { micros: number };
}

/** What was charged for these records, by `GET /v1/usage/records`. */
async function chargesOf(of: TestTenant): Promise<Map<string, number>> {
  const { records } = expectOk(await app.request('GET', '/v1/usage/records?limit=1000', { key: of.key }));
  return new Map(
    records.map((each: { id: string; total: { micros: number } }) => [each.id, each.total.micros]),
  );
}

/** The rows, calculated from the reports. */
async function expectedRows(by: readonly ('room' | 'role' | 'tier')[]): Promise<Partial<Row>[]> {
  const charges = await chargesOf(tenant);
  const groups = Map.groupBy(reported, (record) => JSON.stringify(by.map((name) => record[name] ?? '')));
  const sum = (records: Record<string, unknown>[], name: string) =>
    records.reduce((all, record) => all + (record[name] as number), 0);
  return [...groups].map(([key, records]) => ({
    ...Object.fromEntries(by.map((name, at) => [name, JSON.parse(key)[at]])),
    records: records.length,
    seconds: sum(records, 'seconds'),
    egress_bytes: sum(records, 'egress_bytes'),
    ingress_bytes: sum(records, 'ingress_bytes'),
    total: amount(records.reduce((all, { id }) => all + charges.get(id as string)!, 0)),
    unbilled: amount(0),
  }));
}

const byText = (rows: readonly object[]) =>
  rows
    .map((row) => JSON.stringify(Object.entries(row).sort(([one], [other]) => (one < other ? -1 : 1))))
    .sort();

describe('GET /v1/usage/summary', () => {
  describe.each(['before the deltas are added up', 'after'])('%s', (when) => {
    beforeAll(async () => {
      if (when === 'after') await foldUsage(app.service.deps);
    });

    test.each([[['room']], [['role']], [['tier']], [['role', 'tier']], [['room', 'role', 'tier']]] as const)(
      'groups by %s, the most expensive first',
      async (by) => {
        const { rows, sum, next_cursor: cursor } = await summarize(`?group_by=${by.join(',')}&limit=1000`);
        expect(byText(rows)).toStrictEqual(byText(await expectedRows(by)));
        const costs = rows.map(({ total }: Row) => total.micros);
        expect(costs).toStrictEqual([...costs].sort((one, other) => other - one));
        expect(cursor).toBeUndefined();
        const [all] = await expectedRows([]);
        expect(sum).toStrictEqual(all);
      },
    );

    test('sums a single room', async () => {
      const [lobby] = (await expectedRows(['room'])).filter(({ room }) => room === 'lobby');
      const { room: _, ...sums } = lobby!;
      expect((await summarize('?room=lobby')).rows).toStrictEqual([sums]);
      expect((await summarize('?room=lobby&group_by=room')).rows).toStrictEqual([lobby]);
    });

    test('groups by hour, day and month', async () => {
      for (const name of ['hour', 'day', 'month'] as const) {
        const { rows, sum } = await summarize(`?group_by=${name}`);
        expect(rows.reduce((all: number, row: Row) => all + row.records, 0)).toBe(sum.records);
        const times = rows.map((row: Row) => row[name]!);
        expect(times).toStrictEqual([...new Set(times)].sort());
        expect(times[0]).toMatch(STARTS[name]);
      }
    });
  });

  test('shows the most expensive rooms alone, and the next ones by the cursor', async () => {
    const all = (await summarize('?group_by=room,tier')).rows;
    const top = await summarize('?group_by=room,tier&limit=3');
    expect(top.rows).toStrictEqual(all.slice(0, 3));
    const next = await summarize(`?group_by=room,tier&limit=1000&cursor=${top.next_cursor}`);
    expect(next.rows).toStrictEqual(all.slice(3));
    expect([top.sum, next.next_cursor]).toStrictEqual([next.sum, undefined]);
  });

  test('shows apart what an exempt tenant would have been charged', async () => {
    const exempt = await app.paidTenant();
    await report(app, exempt, manyRecords(5));
    const before = (await summarize('', exempt)).sum;
    await setExempt(app, exempt, true);
    await report(
      app,
      exempt,
      manyRecords(5, { role: 'host', tier: '2k', seconds: 60, egress_bytes: 2 ** 31 }),
    );
    expect((await summarize('', exempt)).sum).toMatchObject({
      records: 10,
      total: before.total,
      unbilled: amount(5 * 6_000),
    });
  });

  test('sorts by what was charged, and only among equal ones by what was not', async () => {
    const of = await app.paidTenant();
    const use = (room: string, gib: number) =>
      report(
        app,
        of,
        manyRecords(1, { room, role: 'host', tier: '2k_plus', seconds: 3_600, egress_bytes: gib * 2 ** 30 }),
      );
    await use('cheap', 1);
    await use('dear', 3);
    await setExempt(app, of, true);
    await use('free', 9);
    await use('freer', 12);
    await use('cheap', 30);
    const rooms = (rows: readonly Row[]) => rows.map(({ room }) => room);
    const all = (await summarize('?group_by=room', of)).rows;
    expect(rooms(all)).toStrictEqual(['dear', 'cheap', 'freer', 'free']);
    const first = await summarize('?group_by=room&limit=3', of);
    const second = await summarize(`?group_by=room&limit=3&cursor=${first.next_cursor}`, of);
    expect([...first.rows, ...second.rows]).toStrictEqual(all);
  });

  test('adds up bytes beyond 64 bits, and describes them so', async () => {
    const of = await app.paidTenant();
    const bytes = Number.MAX_SAFE_INTEGER;
    await report(
      app,
      of,
      manyRecords(2_100, { room: 'r', participant: 'p', egress_bytes: bytes, ingress_bytes: 0 }),
    );
    const { text } = await app.request('GET', '/v1/usage/summary?group_by=room', { key: of.key });
    const sum = String(2_100n * BigInt(bytes));
    expect(BigInt(sum)).toBeGreaterThan(2n ** 64n);
    expect(text.match(/"egress_bytes":\d+/g)).toStrictEqual([
      `"egress_bytes":${sum}`,
      `"egress_bytes":${sum}`,
    ]);
    const openApi = (await app.request('GET', '/openapi.json')).json;
    const { sum: schema } =
      openApi.paths['/v1/usage/summary'].get.responses[200].content['application/json'].schema.properties;
    for (const name of ['egress_bytes', 'ingress_bytes']) {
      expect(schema.properties[name]).toMatchObject({ type: 'integer', format: 'bigint', minimum: 0 });
      expect(schema.properties[name].description).toContain('May exceed 64 bits');
    }
  });

  test('has no rows for a new tenant, or a time without usage', async () => {
    const none = {
      records: 0,
      seconds: 0,
      egress_bytes: 0,
      ingress_bytes: 0,
      total: amount(0),
      unbilled: amount(0),
    };
    expect(await summarize('?group_by=room', await app.signUp())).toMatchObject({ rows: [], sum: none });
    expect(await summarize('?from=2020-01-01&to=2020-02-01')).toStrictEqual({
      from: '2020-01-01T00:00:00.000Z',
      to: '2020-02-01T00:00:00.000Z',
      rows: [],
      sum: none,
    });
  });

  test('adds what no number holds exactly', async () => {
    const rich = await app.paidTenant();
    await setExempt(app, rich, true);
    const largest = {
      egress_bytes: Number.MAX_SAFE_INTEGER,
      ingress_bytes: Number.MAX_SAFE_INTEGER,
      seconds: 0,
    };
    for (let round = 0; round < 2; round += 1) await report(app, rich, manyRecords(5_000, largest));
    const answer = await ask('', rich);
    const sum = BigInt(Number.MAX_SAFE_INTEGER) * 10_000n;
    expect(answer.text).toContain(`"egress_bytes":${sum},"ingress_bytes":${sum},`);
  });

  test.each([
    ['?group_by=planet', GROUPINGS_ERROR],
    ['?group_by=', GROUPINGS_ERROR],
    ['?group_by=room,role,room', 'group_by must name each grouping once'],
    ['?group_by=hour,day', 'group_by must have one of hour, day, month at most'],
    ['?group_by=day,month', 'group_by must have one of hour, day, month at most'],
    ['?group_by=key,hour', 'group_by must have key alone, or with day or month'],
    ['?group_by=customer,participant', 'group_by must have participant alone, or with day or month'],
    ['?group_by=customer&room=lobby', 'room is not for sums by customer'],
    ['?group_by=customer&from=2026-11-01T01:00:00Z', 'from must be a whole day (UTC)'],
    ['?group_by=customer&from=1926-11-01', 'from must be at most 366 days before to'],
    ['?group_by=room&group_by=role', 'group_by must be string'],
    ['?from=2026-11-02&to=2026-11-01', 'from must be before to'],
    ['?from=2026-11-01&to=2026-11-01', 'from must be before to'],
    ['?from=1926-11-01&to=2026-11-01', 'from must be at most 366 days before to'],
    [
      '?from=2026-11-01T00:30:00Z&to=2026-11-02',
      'from must be a whole hour (UTC), or the start of a day in your time zone',
    ],
    ['?to=soon', 'to must be a day or a time such as 2026-11-01T00:00:00Z'],
    ['?limit=5000', 'limit must be a number from 1 to 1000'],
    ['?cursor=abc', 'cursor must be one that an answer gave'],
    [`?cursor=${renderPageToken(['-5'])}`, 'cursor must be one that an answer gave'],
    [`?cursor=${renderPageToken(['9'.repeat(30)])}`, 'cursor must be one that an answer gave'],
  ])('400 %s', async (query, error) => {
    expectError(await ask(query), 400, `invalid request: ${error}`);
  });

  test('401 with a relay key, 403 when the tenant is not active', async () => {
    const answer = await app.request('GET', '/v1/usage/summary', { key: tenant.relayKey });
    expectError(answer, 401, 'invalid api key');
    const archived = await app.paidTenant();
    await setStatus(app, archived, 'archived');
    expectError(await ask('', archived), 403, 'tenant is not active');
  });
});
