import { describe, expect, test } from 'vitest';
import { Carry, exactPrice, PARTS } from '../../../faults/check/price.ts';

const CARD = {
  platform_fee_per_gib: '0.02',
  ceiling_per_1000_participant_minutes: {
    audience: { audio: '0.30', hd: '0.80' },
    host: { full_hd: '3.00' },
  },
};
const price = (role: string, tier: string, seconds: bigint, egress: bigint) =>
  exactPrice(CARD, { role, tier, seconds, egress });

describe('the example of the documents', () => {
  test('costs 559, 800 and 1, and leaves 0.783661 over', () => {
    const carry = new Carry();
    const prices = [
      price('host', 'full_hd', 60n, 30_000_000n),
      price('audience', 'hd', 60n, 90_000_000n),
      price('audience', 'audio', 10n, 80_000n),
    ];
    expect(prices.map((each) => carry.take(each))).toEqual([559n, 800n, 1n]);
    expect(prices.map(({ isCapped }) => isCapped)).toEqual([false, true, false]);
    expect((carry.parts * 1_000_000n + PARTS / 2n) / PARTS).toBe(783_661n);
  });
});

test('a ceiling that equals the fee does not cap it', () => {
  // 15 GiB and 60,000 s both cost 300,000 micros.
  expect(price('audience', 'audio', 60_000n, 15n * 2n ** 30n)).toEqual({
    parts: 300_000n * PARTS,
    isCapped: false,
  });
  expect(price('audience', 'audio', 60_000n, 15n * 2n ** 30n + 1n).isCapped).toBe(true);
});

test('amounts beyond 64 bits are exact', () => {
  const bytes = 2n ** 53n - 1n;
  expect(price('audience', 'audio', 86_400n, bytes).parts).toBe(300_000n * 86_400n * 2n ** 30n);
  expect(price('host', 'full_hd', 86_400n, bytes).isCapped).toBe(true);
});

test.each(['', '1,5', '0.0000001', 'x'])('%j is no amount', (text) => {
  const card = { ...CARD, platform_fee_per_gib: text };
  expect(() => exactPrice(card, { role: 'audience', tier: 'hd', seconds: 1n, egress: 1n })).toThrow(
    'no amount',
  );
});
