import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { HASH_END, hashId, hashIds, hashText } from '../../../../src/money/records/known-ids/id-hash.ts';
import { UsageRecords } from '../../../../src/money/records/usage-records.ts';
import { anyCharacter } from '../../../support/characters.ts';
import { seeded } from '../../../support/seeded.ts';

/** Never change these: the database is full of such hashes. */
test.each([
  ['', 11486836285263],
  ['a', 7831209292450],
  ['ab', 5722446073152],
  ['abc', 7831866139561],
  ['abcd', 623885274528],
  ['relay1-room7-000123', 13030288310542],
  ['3f2504e0-4f89-11d3-9a0c-0305e82c3301', 2136812653038],
  ['söz-𝄞', 17062035581660],
  ['𝄞'.repeat(200), 2298603893509],
])('%s has the hash that it always had', (id, hash) => {
  expect(hashText(id)).toBe(hash);
});

it('is that of the bytes, wherever they lie', () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: anyCharacter, minLength: 1, maxLength: 200 })), (ids) => {
      const records = UsageRecords.from(
        ids.map((id) => ({
          id,
          room: 'room',
          participant: undefined,
          role: 'host',
          tier: 'hd',
          seconds: 1,
          egressBytes: 1n,
          ingressBytes: 1n,
        })),
      );
      expect([...hashIds(records)]).toEqual(ids.map(hashText));
      for (const hash of hashIds(records)) expect(Number.isInteger(hash) && hash < HASH_END).toBe(true);
    }),
  );
});

describe('a million ids', () => {
  const random = seeded(7);
  const hex = () =>
    Math.floor(random() * 2 ** 48)
      .toString(16)
      .padStart(12, '0');

  test.each<[string, (at: number) => string]>([
    ['counted', (at) => `relay1-room7-${String(at).padStart(6, '0')}`],
    ['counted in front', (at) => `${String(at).padStart(6, '0')}-of-a-relay`],
    ['in intervals of sessions', (at) => `relay-1.boot-1.s${at >> 8}.i${at & 255}`],
    ['short', (at) => at.toString(36)],
    ['UUIDs', () => `${hex()}-4${hex()}`.replace(/^(.{8})(.{9})(.{3})/, '$1-$2-a$3-')],
    ['of wide characters', (at) => String.fromCodePoint(0x10000 + (at >> 9), 0x1d100 + (at & 511))],
  ])('%s collide about as often as random numbers', (_what, idOf) => {
    // In 32 of the bits, so that there are enough to count: 116 pairs are expected.
    const high = new Uint32Array(1_000_000);
    const low = new Uint32Array(high.length);
    const bytes = Buffer.alloc(100);
    for (let at = 0; at < high.length; at += 1) {
      const hash = hashId(bytes, 0, bytes.write(idOf(at)));
      high[at] = hash / 2 ** 12;
      low[at] = hash % 2 ** 32;
    }
    for (const bits of [high.sort(), low.sort()]) {
      const equal = bits.filter((each, at) => each === bits[at - 1]).length;
      expect(equal).toBeGreaterThan(60);
      expect(equal).toBeLessThan(180);
    }
  });

  it('of one byte differ', () => {
    const hashes = Array.from({ length: 256 }, (_, byte) => hashId(Uint8Array.of(byte), 0, 1));
    expect(new Set(hashes).size).toBe(256);
  });
});
