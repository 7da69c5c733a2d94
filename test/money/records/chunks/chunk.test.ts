/** A chunk gives back each record as it was, and says when its bytes are damaged. */
import { expect, test } from 'vitest';
import { renderTenantId, type TenantId } from '../../../../src/base/tenants/tenant.ts';
import { BUILT_IN_RATES, parseRateCard } from '../../../../src/money/pricing/rate-card.ts';
import { ROLES, TIERS } from '../../../../src/money/pricing/role.ts';
import type { ChargedRecord } from '../../../../src/money/records/charged-record.ts';
import {
  Chunk,
  type ChunkPosting,
  type Columns,
  DamagedColumnError,
  packChunk,
  packNames,
} from '../../../../src/money/records/chunks/chunk.ts';
import { seeded } from '../../../support/seeded.ts';

const CARDS = new Map([1, 3].map((version) => [version, { version, ...parseRateCard(BUILT_IN_RATES) }]));
const KEY = { tenant: 7n as TenantId, number: 1 };
const NAME = `chunk 1 of the usage records of ${renderTenantId(KEY.tenant)}`;
const LARGEST = 2 ** 53 - 1;

/** Postings of odd sizes, with amounts that fit their prices, and some that do not. */
function makeRecords(count: number): { postings: ChunkPosting[]; records: ChargedRecord[] } {
  const random = seeded(count);
  const upTo = (most: number) => Math.floor(random() * (most + 1));
  const pick = <T>(from: readonly T[]) => from[upTo(from.length - 1)]!;
  const postings: ChunkPosting[] = [];
  const records: ChargedRecord[] = [];
  let seq = 2n ** 40n;
  while (records.length < count) {
    const posting = { seq, records: 1 + upTo(60), rateVersion: pick([1, 3]) };
    postings.push(posting);
    for (let line = 0; line < posting.records; line += 1) {
      records.push({
        seq,
        line,
        id: `relay-${records.length}`,
        room: pick(['stage', 'lobby', '', null, 'é\n']),
        participant: pick(['ada', 'bob', null, '']),
        role: pick(ROLES),
        tier: pick(TIERS),
        seconds: pick([0, 30, 86_400]),
        egressBytes: BigInt(pick([0, LARGEST, upTo(1e9)])),
        ingressBytes: BigInt(pick([0, LARGEST, upTo(1e6)])),
        amount: BigInt(pick([0, 1, upTo(1e6), 2 ** 51])),
        capped: pick([true, false]),
      });
    }
    seq += BigInt(1 + upTo(1_000));
  }
  return { postings, records };
}

async function packed(count: number) {
  const made = makeRecords(count);
  const columns = await packChunk(KEY, made.postings, made.records, CARDS);
  return { ...made, columns, chunk: new Chunk(KEY, columns, async () => CARDS) };
}

test.each([1, 61, 3_000])('%i records come back', async (count) => {
  const { postings, records, chunk } = await packed(count);
  expect(await chunk.records()).toEqual(records);
  expect(await chunk.ids()).toEqual(records.map(({ id }) => id));
  expect(await chunk.postings()).toEqual(postings);
});

test('a chunk of the first version, which has neither planes nor short UUIDs, is read', async () => {
  const columns = {
    numbers: 'JwEfeWNjZWJkYWRkZmJiYpVrWMzKwLGGqeHJ9AtCDKwfFrEwMLLy9S/kZgAA',
    ids: '0IrzFwEwAM//AwEBAAAACAdyZWxheS0xIGunuBCdrUHRgLQAwE/UMMj4HU+ufexB0KdlAKDJHmv2',
    names: 'AW9v1mNjLS5JTE9lYU5MSWRiZGRmYGAAAA==',
  };
  const [numbers, ids, names] = [columns.numbers, columns.ids, columns.names].map((text) =>
    Buffer.from(text, 'base64'),
  ) as [Buffer, Buffer, Buffer];
  const chunk = new Chunk(KEY, { numbers, ids, names }, async () => CARDS);
  const base = { room: 'stage', participant: 'ada', role: 'host', tier: 'hd', capped: false };
  const [first, second] = ['6ba7b810-9dad-41d1-80b4-00c04fd430c8', 'f81d4fae-7dec-41d0-a765-00a0c91e6bf6'];
  expect(await chunk.records()).toEqual([
    {
      ...base,
      seq: 5n,
      line: 0,
      id: first,
      seconds: 30,
      egressBytes: 300n,
      ingressBytes: 70_000n,
      amount: 7n,
    },
    {
      ...base,
      seq: 5n,
      line: 1,
      id: second,
      seconds: 86_400,
      egressBytes: 5_000_000_000n,
      ingressBytes: 0n,
      amount: 900n,
    },
    { ...base, seq: 9n, line: 0, id: 'relay-1', seconds: 0, egressBytes: 0n, ingressBytes: 1n, amount: 0n },
  ]);
  expect(await chunk.postings()).toEqual([
    { seq: 5n, records: 2, rateVersion: 1 },
    { seq: 9n, records: 1, rateVersion: 1 },
  ]);
});

test('only the wanted records are made', async () => {
  const { records, chunk } = await packed(500);
  const { seq } = records[250]!;
  expect(await chunk.records((row, of) => row === 7 || of === seq)).toEqual(
    records.filter((each, row) => row === 7 || each.seq === seq),
  );
});

test('a name is replaced in all records that have it, and counted', async () => {
  const { records, columns, chunk } = await packed(1_000);
  const names = await chunk.names();
  const bobs = records.filter(({ participant }) => participant === 'bob').length;
  expect(names.replaceParticipants(['bob', 'eve'], '(erased)')).toEqual(new Map([['bob', bobs]]));
  const erased = new Chunk(KEY, { ...columns, names: await packNames(KEY, names) }, async () => CARDS);
  expect(await erased.records()).toEqual(
    records.map((each) => (each.participant === 'bob' ? { ...each, participant: '(erased)' } : each)),
  );
});

test.each<keyof Columns>(['numbers', 'ids', 'names'])(
  'damaged %s are refused, wherever the damage is',
  async (column) => {
    const { columns } = await packed(40);
    for (let at = 0; at < columns[column].length; at += 1) {
      const bytes = Buffer.from(columns[column]);
      bytes[at]! ^= 1;
      const reading = new Chunk(KEY, { ...columns, [column]: bytes }, async () => CARDS).records();
      await expect(reading).rejects.toThrow(
        new DamagedColumnError(`${NAME}: the bytes of its ${column} are damaged`),
      );
    }
    const cut = { ...columns, [column]: columns[column].subarray(0, 3) };
    await expect(new Chunk(KEY, cut, async () => CARDS).records()).rejects.toBeInstanceOf(DamagedColumnError);
  },
);

test('columns of another chunk are refused, and those of another column', async () => {
  const { columns } = await packed(40);
  for (const key of [
    { ...KEY, number: 2 },
    { ...KEY, tenant: 8n as TenantId },
  ]) {
    await expect(new Chunk(key, columns, async () => CARDS).names()).rejects.toBeInstanceOf(
      DamagedColumnError,
    );
  }
  const swapped = { ...columns, names: columns.ids };
  await expect(new Chunk(KEY, swapped, async () => CARDS).names()).rejects.toBeInstanceOf(DamagedColumnError);
});

test('a posting whose records are not complete is not packed', async () => {
  const { postings, records } = makeRecords(100);
  await expect(packChunk(KEY, postings, records.slice(1), CARDS)).rejects.toThrow(
    'each record of a posting, in order',
  );
  await expect(packChunk(KEY, postings.slice(0, -1), records, CARDS)).rejects.toThrow(
    'records of these postings alone',
  );
});
