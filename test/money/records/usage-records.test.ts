import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ROLES, TIERS } from '../../../src/money/pricing/role.ts';
import { RECORDS_MAX, type UsageRecord } from '../../../src/money/records/usage-record.ts';
import { UsageRecords } from '../../../src/money/records/usage-records.ts';
import { anyCharacter } from '../../support/characters.ts';

function record(fields: Partial<UsageRecord> = {}): UsageRecord {
  return {
    id: 'one',
    room: undefined,
    participant: undefined,
    role: 'host',
    tier: 'hd',
    seconds: 60,
    egressBytes: 1n,
    ingressBytes: 1n,
    ...fields,
  };
}

const withIds = (ids: readonly string[]) => UsageRecords.from(ids.map((id) => record({ id })));
const idsInOrder = (records: UsageRecords) => Array.from(records.sortById(), (row) => records.id(row));
const byBytes = (a: string, b: string) => Buffer.compare(Buffer.from(a), Buffer.from(b));

describe('UsageRecords', () => {
  test('returns the records that it was created from', () => {
    const text = fc.string({ unit: anyCharacter, maxLength: 10 });
    const quantity = fc.oneof(
      fc.constantFrom(0n, 1n, 2n ** 31n, 2n ** 32n - 1n, 2n ** 32n, 2n ** 53n - 1n),
      fc.bigInt(0n, 2n ** 53n - 1n),
    );
    const anyRecord = fc.record({
      id: text,
      room: fc.option(text, { nil: undefined }),
      participant: fc.option(text, { nil: undefined }),
      role: fc.constantFrom(...ROLES),
      tier: fc.constantFrom(...TIERS),
      seconds: fc.nat(86_400),
      egressBytes: quantity,
      ingressBytes: quantity,
    });
    fc.assert(
      fc.property(fc.array(anyRecord, { maxLength: 8 }), (records) => {
        const columns = UsageRecords.from(records);
        expect(Array.from(columns.rows(), (row) => columns.record(row))).toEqual(records);
        for (const [row, { id, room, participant }] of records.entries()) {
          const bytes = [id, room, participant].map((each) => Buffer.byteLength(each ?? ''));
          expect(columns.textBytes(row)).toBe(bytes[0]! + bytes[1]! + bytes[2]!);
        }
      }),
    );
  });
});

describe('sortById', () => {
  test('handles the largest report, and refuses more rows than a sort key can hold', () => {
    const ids = Array.from({ length: RECORDS_MAX }, (_, at) => `${RECORDS_MAX - at}`.padStart(5, '0'));
    expect(idsInOrder(withIds(ids))).toStrictEqual(ids.toReversed());
    const tooMany = Array.from({ length: 2 ** 16 + 1 }, (_, at) => `${at}`);
    expect(() => withIds(tooMany).sortById()).toThrow('assertion failed');
  });

  test('returns every row once, for any ids', () => {
    const id = fc.oneof(
      fc.string({ unit: anyCharacter, maxLength: 200 }),
      fc.constantFrom('', 'a', 'ab', 'a'.repeat(199), 'a'.repeat(200), '😀'.repeat(200)),
    );
    fc.assert(
      fc.property(fc.array(id, { maxLength: 40 }), (ids) => {
        const rows = withIds(ids).sortById();
        expect([...rows].sort((a, b) => a - b)).toStrictEqual([...ids.keys()]);
      }),
    );
  });

  test('sorts ids that differ within five bytes after their common prefix', () => {
    const short = fc.string({ unit: anyCharacter, minLength: 1, maxLength: 5 }).filter((id) => {
      return Buffer.byteLength(id) <= 5 && !id.includes('\0');
    });
    fc.assert(
      fc.property(fc.string({ maxLength: 150 }), fc.uniqueArray(short, { maxLength: 30 }), (prefix, ends) => {
        const ids = ends.map((end) => prefix + end);
        expect(idsInOrder(withIds(ids))).toStrictEqual([...ids].sort(byBytes));
      }),
    );
  });

  test.each([
    ['none', []],
    ['one', ['relay-7']],
    ['each the beginning of the next', ['aaaa', 'aaa', 'aa', 'a']],
    ['of 1 and of 200 characters', ['z', 'a'.repeat(200), 'a']],
    ['with the smallest byte beside an end', ['a\u0001', 'a']],
    ['with the largest bytes that UTF-8 has', ['\u{10ffff}a', '\u{10ffff}', '\u007f']],
  ])('sorts ids: %s', (_what, ids: string[]) => {
    expect(idsInOrder(withIds(ids))).toStrictEqual([...ids].sort(byBytes));
  });

  test('keeps equal ids in the order of their rows', () => {
    expect([...withIds(['b', 'a', 'b', 'a', 'b']).sortById()]).toStrictEqual([1, 3, 0, 2, 4]);
  });

  test('sorts 5000 rows', () => {
    const ids = Array.from(
      { length: 5_000 },
      (_, index) => `relay.${String((index * 7_919) % 5_000).padStart(5, '0')}`,
    );
    expect(idsInOrder(withIds(ids))).toStrictEqual([...ids].sort());
  });
});
