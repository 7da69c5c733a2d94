import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { displayFraction, exactMicros } from '../../../src/money/pricing/exact-micros.ts';
import { PRICE_DENOMINATOR } from '../../../src/money/pricing/usage-price.ts';

describe('displayFraction', () => {
  it.each([
    [0n, 1n, '0.000000'],
    [7n, 2n, '3.500000'],
    [800n, 1n, '800.000000'],
    [1n, 3n, '0.333333333333'],
    [2n, 3n, '0.666666666667'],
    [1n, 2n ** 30n, '0.000000000931'],
    [80_000n, 2n ** 30n, '0.000074505806'],
    [1n, 2_000_000_000_000n, '0.000000000001'],
    [1n, 2_000_000_000_001n, '0.000000'],
    [2n ** 80n, 1n, '1208925819614629174706176.000000'],
  ])('%d / %d is %s', (numerator, denominator, decimal) => {
    expect(displayFraction(numerator, denominator, 12)).toBe(decimal);
  });
});

describe('exactMicros', () => {
  it('has the numerator, and decimals of at most 13 places', () => {
    expect(exactMicros(1n)).toEqual({ numerator: 1n, decimal: '0.0000000000005' });
    expect(exactMicros(PRICE_DENOMINATOR / 2n).decimal).toBe('0.500000');
    expect(exactMicros(PRICE_DENOMINATOR - 1n).decimal).toBe('0.9999999999995');
  });

  it('tells any two fractions apart, and names the numerator that it was made of', () => {
    const anyNumerator = fc.bigInt(0n, 10n ** 9n * PRICE_DENOMINATOR);
    fc.assert(
      fc.property(anyNumerator, (numerator) => {
        const { decimal } = exactMicros(numerator);
        expect(decimal).not.toBe(exactMicros(numerator + 1n).decimal);
        const [whole, fraction = ''] = decimal.split('.');
        const scaled = BigInt(`${whole}${fraction.padEnd(13, '0')}`);
        expect((scaled * PRICE_DENOMINATOR + 5n * 10n ** 12n) / 10n ** 13n).toBe(numerator);
      }),
    );
  });
});
