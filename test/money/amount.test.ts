import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  centsOfMicros,
  displayCents,
  displayMicros,
  microsOfCents,
  microsOfDollars,
  parseSignedDollars,
  renderAmount,
} from '../../src/money/amount.ts';

describe('displayMicros', () => {
  it.each([
    [0n, '$0.000000'],
    [1n, '$0.000001'],
    [-1n, '-$0.000001'],
    [999_999n, '$0.999999'],
    [1_000_000n, '$1.000000'],
    [-1_000_000n, '-$1.000000'],
    [-1_500_000n, '-$1.500000'],
    [20_000_000n, '$20.000000'],
    [9_223_372_036_854_775_807n, '$9223372036854.775807'],
    [-9_223_372_036_854_775_808n, '-$9223372036854.775808'],
  ])('%s micros are %s', (micros, display) => {
    expect(displayMicros(micros)).toBe(display);
  });

  it('shows the exact value', () => {
    fc.assert(
      fc.property(fc.bigInt(-(2n ** 63n), 2n ** 63n - 1n), (micros) => {
        const display = displayMicros(micros);
        expect(display).toMatch(/^-?\$\d+\.\d{6}$/);
        expect(BigInt(display.replace(/[$.]/g, ''))).toBe(micros);
      }),
    );
  });
});

it('displayCents shows whole cents', () => {
  expect(displayCents(20_000_000n)).toBe('$20.00');
  expect(displayCents(10_050_000n)).toBe('$10.05');
  expect(displayCents(90_071_992_547_409_930_000n)).toBe('$90071992547409.93');
});

describe('microsOfDollars', () => {
  it('reads back what displayMicros shows', () => {
    fc.assert(
      fc.property(fc.bigInt(0n, 2n ** 63n - 1n), (micros) => {
        expect(microsOfDollars(displayMicros(micros).slice(1))).toBe(micros);
      }),
    );
  });

  it.each([
    ['0', 0n],
    ['1', 1_000_000n],
    ['0.6', 600_000n],
    ['12.05', 12_050_000n],
  ])('%s dollars are %s micros', (dollars, micros) => {
    expect(microsOfDollars(dollars)).toBe(micros);
  });
});

it('renderAmount shows both forms', () => {
  expect(renderAmount(-25n)).toEqual({ micros: -25n, display: '-$0.000025' });
});

describe('cents', () => {
  it('are 10,000 micros each, up to the largest amount of a request', () => {
    expect(microsOfCents(0)).toBe(0n);
    expect(microsOfCents(1_000_000)).toBe(10_000_000_000n);
    expect(microsOfCents(Number.MAX_SAFE_INTEGER)).toBe(90_071_992_547_409_910_000n);
  });

  it('survive the round trip', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 99_999_999 }), (cents) => {
        expect(centsOfMicros(microsOfCents(cents))).toBe(cents);
      }),
    );
  });
});

describe('parseSignedDollars', () => {
  it.each([
    ['12.50', 12_500_000n],
    ['-3', -3_000_000n],
    ['0.000001', 1n],
    ['999999999.999999', 999_999_999_999_999n],
  ])('%s', (text, micros) => {
    expect(parseSignedDollars(text)).toBe(micros);
  });

  it.each(['', '0', '-0.000000', '1000000000', '1.0000001', '1.', '.5', '+1', '$1', '1 ', '1e3'])(
    'refuses %j',
    (text) => {
      expect(parseSignedDollars(text)).toBeUndefined();
    },
  );
});
