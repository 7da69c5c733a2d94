/** Slices of sums of records, however small they are. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { TenantId } from '../../../src/base/tenants/tenant.ts';
import type { ReadRecord } from '../../../src/money/records/read-record.ts';
import { RecordSums, type Slice, type Slices } from '../../../src/money/verification/record-sums.ts';

interface Made {
  readonly tenant: number;
  /** Hours and minutes since a time of the tenant. */
  readonly minutes: number;
  readonly kind: 'usage' | 'unbilled' | null;
  readonly rooms: readonly string[];
}

/** The records of postings, in the order of charging. */
function recordsOf(postings: readonly Made[]): ReadRecord[] {
  const inOrder = postings.toSorted((one, other) => one.tenant - other.tenant || one.minutes - other.minutes);
  return inOrder.flatMap(({ tenant, minutes, kind, rooms }, at) =>
    rooms.map((room, line) => {
      const record = {
        tenant: BigInt(tenant) as TenantId,
        seq: BigInt(at + 1),
        kind,
        at: kind && new Date(Date.UTC(2026, 0, 1, 0, minutes)),
        line,
        room: room || null,
        role: 'h',
        tier: line % 2 ? 'a' : 'f',
        seconds: line,
        egressBytes: 2n ** 60n,
        ingressBytes: 1n,
        amount: 7n,
      };
      return record as ReadRecord;
    }),
  );
}

interface Whole {
  readonly postings: NonNullable<Slices['postings']>;
  readonly hours: NonNullable<Slices['hours']>;
}

function slicesOf(records: readonly ReadRecord[], max?: number): Slices[] {
  const sums = new RecordSums(max);
  const slices = records.map((record) => sums.add(record)).filter((each) => each !== undefined);
  return [...slices, sums.finish()];
}

const compare = <T extends bigint | string>(one: T, other: T) => (one < other ? -1 : Number(one > other));

/** That they touch and cover all keys, and that each sum is in its own slice. */
function checkSlices<Sum extends { readonly tenant: TenantId }, At extends bigint | string>(
  slices: readonly Slice<Sum, readonly [TenantId, At]>[],
  atOf: (sum: Sum) => At,
): void {
  const isBefore = (one: readonly [TenantId, At], other: readonly [TenantId, At]) =>
    compare(one[0], other[0]) < 0 || (one[0] === other[0] && compare(one[1], other[1]) < 0);
  for (const [index, { from, to, sums }] of slices.entries()) {
    if (index > 0) expect(from).toEqual(slices[index - 1]!.to);
    for (const sum of sums) {
      const key = [sum.tenant, atOf(sum)] as const;
      const isFromStart = index === 0 || !isBefore(key, from);
      expect([key, isFromStart, index === slices.length - 1 || isBefore(key, to)]).toEqual([key, true, true]);
    }
  }
  expect(slices[0]!.from[0]).toBe(-(2n ** 63n));
  expect(slices.at(-1)!.to[0]).toBe(2n ** 63n - 1n);
}

const anyPosting = fc.record<Made>({
  tenant: fc.integer({ min: -2, max: 2 }),
  minutes: fc.integer({ min: 0, max: 300 }),
  kind: fc.constantFrom('usage', 'usage', 'unbilled', null),
  rooms: fc.array(fc.constantFrom('', 'a', 'b', 'c'), { minLength: 1, maxLength: 6 }),
});

describe('slices', () => {
  test('touch, cover every key, and add up to the same, however small they are', () => {
    fc.assert(
      fc.property(fc.array(anyPosting, { maxLength: 30 }), fc.integer({ min: 1, max: 9 }), (made, max) => {
        const records = recordsOf(made);
        const slices = slicesOf(records, max);
        const postings = slices.flatMap((each) => each.postings ?? []);
        const hours = slices.flatMap((each) => each.hours ?? []);
        checkSlices(postings, ({ seq }) => seq);
        checkSlices(hours, ({ hour }) => hour);
        const [whole] = slicesOf(records);
        expect(postings.flatMap(({ sums }) => sums)).toEqual(whole!.postings!.sums);
        expect(hours.flatMap(({ sums }) => sums)).toEqual(whole!.hours!.sums);
        expect(Math.max(0, ...postings.map(({ sums }) => sums.length))).toBeLessThanOrEqual(max);
      }),
    );
  });

  test('end between hours, so one that has more sums than a slice is in one slice', () => {
    const rooms = ['a', 'b', 'c', 'd'];
    const made = [0, 20, 59, 60, 61].map((minutes) => ({
      tenant: 1,
      minutes,
      kind: 'usage' as const,
      rooms,
    }));
    const hours = slicesOf(recordsOf(made), 2).flatMap((each) => each.hours ?? []);
    expect(hours.map(({ sums }) => sums.map(({ hour, records }) => [hour.slice(11, 16), records]))).toEqual([
      rooms.map(() => ['00:00', 3]),
      rooms.map(() => ['01:00', 2]),
    ]);
  });

  test('do not end where time goes back, so that an hour that comes again is in the same one', () => {
    const [first, second, third] = recordsOf(
      [0, 60, 61].map((minutes) => ({ tenant: 1, minutes, kind: 'usage', rooms: ['a'] })),
    );
    const back = { ...third!, at: first!.at } as ReadRecord;
    const hours = slicesOf(
      [second!, first!, back].map((each, seq) => ({ ...each, seq: BigInt(seq) })),
      1,
    );
    expect(hours.flatMap((each) => each.hours ?? []).map(({ sums }) => sums.length)).toEqual([2]);
  });
});

describe('sums', () => {
  test('are exact, and tell what was charged from what was not', () => {
    const [{ postings, hours }] = slicesOf(
      recordsOf([
        { tenant: 1, minutes: 0, kind: 'usage', rooms: ['a', 'a', 'a'] },
        { tenant: 1, minutes: 1, kind: 'unbilled', rooms: ['a'] },
        { tenant: 1, minutes: 2, kind: null, rooms: ['a'] },
      ]),
    ) as [Whole];
    expect(postings.sums.map(({ seq, records, amount }) => [seq, records, amount])).toEqual([
      [1n, 3, 21n],
      [2n, 1, 7n],
      [3n, 1, 7n],
    ]);
    const common = { tenant: 1n, hour: '2026-01-01T00:00:00.000Z', room: 'a', role: 'h' };
    expect(hours.sums).toEqual([
      {
        ...common,
        tier: 'f',
        records: 3,
        seconds: 2,
        egressBytes: 3n * 2n ** 60n,
        ingressBytes: 3n,
        amount: 14n,
        unbilled: 7n,
      },
      {
        ...common,
        tier: 'a',
        records: 1,
        seconds: 1,
        egressBytes: 2n ** 60n,
        ingressBytes: 1n,
        amount: 7n,
        unbilled: 0n,
      },
    ]);
  });

  test('have rooms of 200 characters at most', () => {
    const long = '🎥'.repeat(201);
    const [{ hours }] = slicesOf(recordsOf([{ tenant: 1, minutes: 0, kind: 'usage', rooms: [long] }])) as [
      Whole,
    ];
    expect(hours.sums[0]!.room).toBe('🎥'.repeat(200));
  });
});
