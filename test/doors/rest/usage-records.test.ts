import { beforeAll, describe, expect, test } from 'vitest';
import { type TestTenant, usageRecord, useService } from '../../support/service.ts';
import { TIMESTAMP } from '../../support/timestamp.ts';
import { manyRecords, report, setExempt } from './ledger-routes.ts';
import { amount, expectError, expectOk } from './support.ts';

const app = useService();
let tenant: TestTenant;
let other: TestTenant;
let reported: Record<string, unknown>[];
let unbilled: Record<string, unknown>[];

beforeAll(async () => {
  tenant = await app.paidTenant({ cents: 5000 });
  other = await app.paidTenant();
  const batches = [manyRecords(20), manyRecords(90)];
  for (const batch of batches) await report(app, tenant, batch);
  await report(app, other, manyRecords(5));
  await setExempt(app, tenant, true);
  unbilled = manyRecords(55);
  await report(app, tenant, unbilled);
  await setExempt(app, tenant, false);
  reported = [...batches.flat(), ...unbilled];
});

const ask = (path: string, key = tenant.key) => app.request('GET', path, { key });

async function listAll(query: Record<string, string> = {}): Promise<Record<string, unknown>[]> {
  const records: Record<string, unknown>[] = [];
  let cursor: string | undefined;
  do {
    const parameters = new URLSearchParams({ ...query, ...(cursor && { cursor }) });
    const page = expectOk(await ask(`/v1/usage/records?${parameters}`));
    records.push(...page.records);
    cursor = page.next_cursor;
  } while (cursor);
  return records;
}

describe('GET /v1/usage/records', () => {
  test('lists what was reported, newest first', async () => {
    const records = await listAll({ limit: '40' });
    const values = records.map(({ total, capped, unbilled: free, at, ...record }) => {
      expect(at).toMatch(TIMESTAMP);
      expect(total).toStrictEqual(amount((total as { micros: number }).micros));
      expect([typeof capped, typeof free]).toStrictEqual(['boolean', 'boolean']);
      return record;
    });
    expect(values).toStrictEqual(reported.toReversed());
    const free = records.filter((record) => record.unbilled).map(({ id }) => id);
    expect(free).toStrictEqual(unbilled.map(({ id }) => id).toReversed());
  });

  test('filters by room, participant, role and tier', async () => {
    const all = reported.toReversed();
    for (const query of [
      { room: 'stage' },
      { participant: 'user-2' },
      { role: 'audience' },
      { tier: '2k_plus', role: 'host' },
    ]) {
      const ids = (await listAll({ ...query, limit: '3' })).map(({ id }) => id);
      const expected = all.filter((record) =>
        Object.entries(query).every(([name, value]) => record[name] === value),
      );
      expect(ids, JSON.stringify(query)).toStrictEqual(expected.map(({ id }) => id));
      expect(ids.length).toBeGreaterThan(3);
    }
  });

  test('refuses a role that is none', async () => {
    expectError(
      await ask('/v1/usage/records?role=king'),
      400,
      'invalid request: role must be one of host, audience, broadcast_audience',
    );
  });

  test('streams CSV', async () => {
    const answer = await app.request('GET', '/v1/usage/records?participant=user-1', {
      key: tenant.key,
      headers: { accept: 'text/csv' },
    });
    const lines = answer.text.trimEnd().split('\r\n');
    expect(lines[0]).toBe(
      'at,id,room,participant,role,tier,seconds,egress_bytes,ingress_bytes,micros,dollars,capped,unbilled',
    );
    expect(lines).toHaveLength(1 + reported.filter(({ participant }) => participant === 'user-1').length);
  });
});

describe('GET /v1/usage/{id}/explain', () => {
  const explain = (id: string, key = tenant.key) => ask(`/v1/usage/${encodeURIComponent(id)}/explain`, key);

  test('shows the calculation of docs/usage.md', async () => {
    const fresh = await app.paidTenant();
    const records = [
      { id: 'a/1', role: 'host', tier: 'full_hd', seconds: 60, egress_bytes: 30_000_000, ingress_bytes: 0 },
      { id: 'ü😀', role: 'audience', tier: 'hd', seconds: 60, egress_bytes: 90_000_000, ingress_bytes: 0 },
      { id: '3', role: 'audience', tier: 'audio', seconds: 10, egress_bytes: 80_000, ingress_bytes: 0 },
    ];
    await report(app, fresh, records);
    const answers = [];
    for (const { id } of records) answers.push(expectOk(await explain(id, fresh.key)));
    expect(answers[1]).toStrictEqual({
      record: {
        ...records[1],
        total: amount(800),
        capped: true,
        unbilled: false,
        at: expect.stringMatching(TIMESTAMP),
      },
      explanation: {
        egress_gib: '0.083819031715',
        platform_fee_per_gib: amount(20_000),
        fee: '1676.3806343078613',
        minutes: '1.000000',
        ceiling_per_1000_minutes: amount(800_000),
        ceiling: '800.000000',
        limited_by: 'ceiling',
        price: '800.000000',
        carry_before: '0.2935447692871',
        carry_after: '0.2935447692871',
        rounding: 'carry',
        rate_card: 1,
        rule: 1,
      },
      posting: { seq: 2, records: 3, amount: amount(-1_360), at: expect.stringMatching(TIMESTAMP) },
    });
    expect(answers.map(({ record }) => record.total.micros)).toStrictEqual([559, 800, 1]);
    expect(answers[2].explanation.carry_after).toMatch(/^0\.78366/);
  });

  test('explains every record of every posting, with the amount that was charged', async () => {
    for (const { id, total } of await listAll()) {
      const { record, explanation } = expectOk(await explain(id as string));
      expect(record).toMatchObject({ id, total });
      const { micros } = total as { micros: number };
      const exact = Number(explanation.price) + Number(explanation.carry_before);
      expect(exact - Number(explanation.carry_after)).toBeCloseTo(micros, 9);
    }
  });

  test('explains an id of two hundred characters', async () => {
    const fresh = await app.paidTenant();
    const id = '😀'.repeat(200);
    await report(app, fresh, [usageRecord({ id })]);
    expect(expectOk(await explain(id, fresh.key)).record.id).toBe(id);
  });

  test('404 for an id that was not charged, and for one of another tenant', async () => {
    expectError(await explain('nothing'), 404, 'not found');
    expectError(await explain(reported[0]!.id as string, other.key), 404, 'not found');
    expectError(await explain('a\0b'), 404, 'not found');
  });
});

describe('POST /v1/usage/lookup', () => {
  const lookUp = (ids: unknown, key = tenant.relayKey) =>
    app.request('POST', '/v1/usage/lookup', { key, body: { ids } });

  test('tells what became of each id, in the order asked', async () => {
    const [first] = reported;
    const free = unbilled[0]!;
    const { records } = expectOk(await lookUp([free.id, 'lost', first!.id, first!.id]));
    const found = {
      outcome: 'charged',
      id: first!.id,
      total: expect.any(Object),
      at: expect.stringMatching(TIMESTAMP),
    };
    expect(records).toStrictEqual([
      { ...found, outcome: 'unbilled', id: free.id },
      { id: 'lost', outcome: 'unknown' },
      found,
      found,
    ]);
  });

  test('answers for 5,000 ids, and for none', async () => {
    const ids = Array.from({ length: 5000 }, (_, at) => (at % 2 ? `lost-${at}` : reported[at % 100]!.id));
    const { records } = expectOk(await lookUp(ids));
    expect(records.map(({ id }: { id: string }) => id)).toStrictEqual(ids);
    expect(expectOk(await lookUp([]))).toStrictEqual({ records: [] });
  });

  test('knows nothing of other tenants', async () => {
    const { records } = expectOk(await lookUp([reported[0]!.id], other.relayKey));
    expect(records).toStrictEqual([{ id: reported[0]!.id, outcome: 'unknown' }]);
  });

  test('a relay that lost one answer in five converges: nothing is unknown, and nothing is charged twice', async () => {
    const fresh = await app.paidTenant();
    const batches = Array.from({ length: 10 }, () => manyRecords(8));
    for (const [at, batch] of batches.entries()) if (at % 5 !== 3) await report(app, fresh, batch);
    const ids = batches.flat().map(({ id }) => id as string);
    const { records } = expectOk(await lookUp(ids, fresh.relayKey));
    const unknown = new Set(
      records.flatMap(({ id, outcome }: { id: string; outcome: string }) =>
        outcome === 'unknown' ? [id] : [],
      ),
    );
    expect(unknown.size).toBe(16);
    const again = await report(
      app,
      fresh,
      batches.flat().filter(({ id }) => unknown.has(id)),
    );
    expect(again).toMatchObject({ charged: 16, duplicates: 0 });
    const after = expectOk(await lookUp(ids, fresh.relayKey)).records;
    expect(after.filter(({ outcome }: { outcome: string }) => outcome !== 'charged')).toStrictEqual([]);
  });

  test('refuses what is no list of ids, and a backend key', async () => {
    for (const [ids, error] of [
      ['x', 'ids must be array'],
      [[5], 'ids/0 must be string'],
      [[''], 'ids/0 must not be empty'],
      [Array.from({ length: 5001 }, String), 'ids must not have more than 5000 items'],
    ] as const) {
      expectError(await lookUp(ids), 400, `invalid request: ${error}`);
    }
    expectError(await lookUp(['x'], tenant.key), 401, 'invalid api key');
  });
});

describe('GET /v1/usage/conflicts', () => {
  test('shows what was charged and what was reported again, newest first, page by page', async () => {
    const fresh = await app.paidTenant();
    const records = manyRecords(5, { room: 'stage', participant: 'ann' });
    await report(app, fresh, records);
    for (const record of records) await report(app, fresh, [{ ...record, seconds: 4_000, room: undefined }]);
    await report(app, fresh, [{ ...records[1], seconds: 4_001 }]);
    const shown: Record<string, unknown>[] = [];
    let cursor = '';
    do {
      const page = expectOk(await ask(`/v1/usage/conflicts?limit=2${cursor}`, fresh.key));
      shown.push(...page.conflicts);
      cursor = page.next_cursor ? `&cursor=${page.next_cursor}` : '';
    } while (cursor);
    const order = [1, 4, 3, 2, 0].map((at) => records[at]!.id);
    expect(shown.map(({ id }) => id)).toStrictEqual(order);
    const { id, ...charged } = records[1]!;
    expect(shown[0]).toStrictEqual({
      id,
      times: 2,
      first_at: expect.stringMatching(TIMESTAMP),
      last_at: expect.stringMatching(TIMESTAMP),
      charged,
      reported: { ...charged, seconds: 4_001 },
    });
    expect(shown[1]!.reported).not.toHaveProperty('room');
    const { next_cursor: token } = expectOk(await ask('/v1/usage/conflicts?limit=1', fresh.key));
    expectError(
      await ask(`/v1/usage/conflicts?cursor=${token}`),
      400,
      'invalid request: cursor must be one that an answer gave',
    );
  });

  test('is empty without any', async () => {
    expect(expectOk(await ask('/v1/usage/conflicts', other.key))).toStrictEqual({ conflicts: [] });
  });
});
