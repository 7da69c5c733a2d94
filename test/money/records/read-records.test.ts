/** All records in the order of charging, and single ones by their ids. */
import { beforeAll, expect, test, vi } from 'vitest';
import { inSnapshot } from '../../../src/base/db/transaction.ts';
import type { TenantId } from '../../../src/base/tenants/tenant.ts';
import { archiveRecords } from '../../../src/money/records/archive-records.ts';
import { recordOf } from '../../../src/money/records/find-records.sql.ts';
import { findRecordsById } from '../../../src/money/records/find-records.ts';
import type { ReadRecord, RecordsRead } from '../../../src/money/records/read-record.ts';
import { readRecords } from '../../../src/money/records/read-records.ts';
import { UsageRecords } from '../../../src/money/records/usage-records.ts';
import { chargeTenant } from '../../../src/money/usage/charge-usage.ts';
import { moveInTime } from '../../support/months.ts';
import { useService } from '../../support/service.ts';
import { testStepForms } from '../../support/step-forms.ts';
import { makeTenants } from '../../support/tenants.ts';

const app = useService();
const db = () => app.service.deps.db;

const TIMES = ['2026-01-05T10:59:59.999Z', '2026-01-05T11:00:00Z', '2026-01-06T00:00:00Z'];

const RECORD = {
  role: 'audience',
  tier: '2k',
  seconds: 5,
  egressBytes: 1_000_000n,
  ingressBytes: 5n,
} as const;

let tenants: readonly TenantId[];

beforeAll(async () => {
  tenants = (await makeTenants(db(), 2)).toSorted((one, other) => (one < other ? -1 : 1));
  // Charged in another order than they are read in, with ids in another order than both.
  for (const tenant of tenants.toReversed()) {
    for (const batch of [2, 1, 0]) {
      const records = [51, 3].flatMap((count) =>
        Array.from({ length: count }, (_, at) => ({
          id: `${batch}-${count}-${(at * 7) % count}`,
          room: at % 2 ? 'lobby' : undefined,
          participant: at % 3 ? 'ann' : undefined,
          ...RECORD,
          seconds: at,
          egressBytes: BigInt(at) * 1_000_000n,
        })),
      );
      await chargeTenant(app.service.deps, tenant, [{ tenant, records: UsageRecords.from(records) }]);
    }
    await moveInTime(db(), tenant, TIMES);
  }
});

async function read(wanted?: RecordsRead): Promise<ReadRecord[]> {
  return inSnapshot(db(), async (tx) => {
    const records: ReadRecord[] = [];
    for await (const page of readRecords(tx, wanted)) records.push(...page);
    return records;
  });
}

const placesOf = (records: readonly ReadRecord[]) =>
  records.map(({ tenant, seq, line }) => [tenants.indexOf(tenant), Number(seq), line]);

/** The places of these postings. */
const expected = (of: readonly number[], seqs: readonly number[]) =>
  of.flatMap((tenant) => seqs.flatMap((seq) => Array.from({ length: 54 }, (_, line) => [tenant, seq, line])));

test('records come by tenant, posting and line', async () => {
  expect(placesOf(await read())).toEqual(expected([0, 1], [1, 2, 3]));
  expect(placesOf(await read({ tenant: tenants[1] }))).toEqual(expected([1], [1, 2, 3]));
});

test('a period has what was charged from its start on and before its end', async () => {
  const [, second, third] = TIMES.map((time) => new Date(time));
  expect(placesOf(await read({ from: second, to: third }))).toEqual(expected([0, 1], [2]));
  expect(placesOf(await read({ tenant: tenants[0], from: second }))).toEqual(expected([0], [2, 3]));
  expect(placesOf(await read({ tenant: tenants[0], to: third }))).toEqual(expected([0], [1, 2]));
});

test('each has what its posting says, and the last one of a posting the newest ids', async () => {
  const [first, ...others] = (await read({ tenant: tenants[0] })).slice(0, 54);
  expect(first).toMatchObject({
    kind: 'usage',
    at: new Date(TIMES[0]!),
    rateVersion: expect.any(Number),
    ruleVersion: 1,
    rounding: 'c',
    carry: expect.any(BigInt),
    newestIds: null,
  });
  const last = others.at(-1)!;
  expect(others.filter(({ newestIds }) => newestIds !== null)).toEqual([last]);
  expect(last.newestIds).toEqual(
    [first!, ...others]
      .toReversed()
      .slice(0, 50)
      .map(({ id }) => id),
  );
});

test('a record is found by its id, as it is read in order, and unknown ids are left out', async () => {
  const tenant = tenants[0]!;
  const records = await read({ tenant });
  const ids = records.map(({ id }) => id);
  const found = await findRecordsById(db(), tenant, ['unknown', ...ids]);
  const columns = Object.keys(found[0]!);
  const byId = new Map(found.map((record) => [record.id, record]));
  expect(found).toHaveLength(ids.length);
  for (const record of records) {
    const own = Object.entries(recordOf(record)).filter(([name]) => columns.includes(name));
    expect(byId.get(record.id)).toEqual(Object.fromEntries(own));
  }
  expect(await findRecordsById(db(), tenants[1]!, ['unknown'])).toEqual([]);
});

test('a record without a posting is read as well, but belongs to no period', async () => {
  const [tenant] = tenants;
  await db().query(
    `insert into usage_records (tenant_id, posting_seq, egress_bytes, ingress_bytes, amount, seconds, line, role, tier,
                                capped, id) values ($1, 9, 0, 0, 0, 0, 0, 'h', 'a', false, 'slipped in')`,
    [tenant],
  );
  const last = (await read({ tenant })).at(-1);
  expect(last).toMatchObject({ id: 'slipped in', kind: null, at: null, rateVersion: null, newestIds: null });
  expect((await read({ tenant, from: new Date(0) })).at(-1)).toMatchObject({ seq: 3n });
});

test('archived records come in the same order, of all tenants and of a period', async () => {
  const [, second, third] = TIMES.map((time) => new Date(time));
  const asked: readonly RecordsRead[] = [
    {},
    { from: second, to: third },
    { from: third },
    { tenant: tenants[1] },
  ];
  // So long that the second batch has a chunk of its own.
  for (const batch of ['x', 'y']) {
    const records = Array.from({ length: 2_000 }, (_, at) => ({
      ...RECORD,
      id: `${batch}-${at}`,
      room: batch.repeat(200),
      participant: `${at}`.padStart(200, batch),
    }));
    await chargeTenant(app.service.deps, tenants[0]!, [
      { tenant: tenants[0]!, records: UsageRecords.from(records) },
    ]);
  }
  const before = await Promise.all(asked.map(read));
  await archiveRecords({ ...app.service.deps, config: { archiveAfterSeconds: 0 } });
  const { rows } = await db().query(
    'select tenant_id as tenant, count(*)::integer as chunks from record_chunks group by tenant_id order by tenant_id',
  );
  expect(rows).toEqual([
    { tenant: tenants[0], chunks: 2 },
    { tenant: tenants[1], chunks: 1 },
  ]);
  expect(await Promise.all(asked.map(read))).toEqual(before);
});

testStepForms('a chunk is read from the server of its tenant alone', async () => {
  const texts: string[] = [];
  await inSnapshot(db(), async (tx) => {
    const query = vi.spyOn(tx, 'query');
    for await (const _ of readRecords(tx));
    texts.push(...query.mock.calls.map(([asked]) => (asked as { readonly text?: string }).text ?? ''));
    query.mockRestore();
  });
  const ofChunks = texts.filter((text) => /numbers/.test(text));
  expect(ofChunks.length).toBeGreaterThanOrEqual(tenants.length);
  expect(ofChunks.filter((text) => !/tenant_id = \$/.test(text))).toEqual([]);
});
