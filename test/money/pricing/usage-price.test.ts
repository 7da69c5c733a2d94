import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { INITIAL_CARRY, settlePrice } from '../../../src/money/pricing/carry.ts';
import { PRICE_DENOMINATOR, priceUsage, type Usage } from '../../../src/money/pricing/usage-price.ts';
import { anyUsage, BYTES_MAX, exactly, GIB, RATES, usage } from './support.ts';

/** The charge of a new tenant for this usage alone. */
function firstCharge(one: Usage): bigint {
  return settlePrice(priceUsage(one, RATES).numerator, INITIAL_CARRY, 'carry').amount;
}

describe('priceUsage', () => {
  it.each<[string, Partial<Usage>, bigint, boolean]>([
    ['nothing sent costs nothing', { egressBytes: 0n }, 0n, false],
    ['no time connected costs nothing, whatever was sent', { seconds: 0 }, 0n, true],
    ['neither time nor bytes is not a cap', { seconds: 0, egressBytes: 0n }, 0n, false],
    ['a GiB costs the platform fee', {}, 20_000n, false],
    ['a byte costs less than can be shown', { egressBytes: 1n }, 0n, false],
    ['half a micro is rounded up', { egressBytes: 26_844n }, 1n, false],
    ['just below half a micro is rounded down', { egressBytes: 26_843n }, 0n, false],
    ['the ceiling holds', { seconds: 60, egressBytes: GIB }, 1_500n, true],
    [
      'a day of hosting in the best tier',
      { tier: '2k_plus', seconds: 86_400, egressBytes: BYTES_MAX },
      17_280_000n,
      true,
    ],
    [
      'a minute of audio in a broadcast',
      { role: 'broadcast_audience', tier: 'audio', seconds: 60 },
      150n,
      true,
    ],
    ['a minute of hd in the audience', { role: 'audience', seconds: 60 }, 800n, true],
    ['an exact tie is not a cap', { seconds: 800, egressBytes: GIB, tier: 'hd' }, 20_000n, false],
  ])('%s', (_, fields, micros, capped) => {
    expect(firstCharge(usage(fields))).toBe(micros);
    expect(priceUsage(usage(fields), RATES).capped).toBe(capped);
  });

  it('agrees with the formula in exact fractions for every valid value', () => {
    fc.assert(
      fc.property(anyUsage, (one) => {
        const { numerator, capped } = priceUsage(one, RATES);
        const { price, capped: expectedCap } = exactly(one);
        expect(numerator * price.bottom).toBe(price.top * PRICE_DENOMINATOR);
        expect(capped).toBe(expectedCap);
      }),
      { numRuns: 2_000 },
    );
  });

  it('never exceeds the ceiling, and never decreases with usage', () => {
    fc.assert(
      fc.property(anyUsage, fc.bigInt(0n, 2n ** 40n), (one, more) => {
        const { numerator } = priceUsage(one, RATES);
        expect(numerator >= 0n).toBe(true);
        expect(numerator <= 17_280_000n * PRICE_DENOMINATOR).toBe(true);
        expect(
          priceUsage({ ...one, egressBytes: one.egressBytes + more }, RATES).numerator >= numerator,
        ).toBe(true);
        if (one.seconds < 86_400) {
          expect(priceUsage({ ...one, seconds: one.seconds + 1 }, RATES).numerator >= numerator).toBe(true);
        }
      }),
    );
  });

  it('treats a negative quantity as our own bug', () => {
    expect(() => priceUsage(usage({ seconds: -1 }), RATES)).toThrow('assertion failed: seconds');
    expect(() => priceUsage(usage({ egressBytes: -1n }), RATES)).toThrow('assertion failed: egressBytes');
  });
});
