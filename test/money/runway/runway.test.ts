import { describe, expect, it } from 'vitest';
import { burnOf, leftOf, perHour, shareOf } from '../../../src/money/runway/runway.ts';

const NOW = new Date('2026-11-22T12:00:00Z');

describe('runway', () => {
  it.each([
    // balance, burn, hours, empty at
    [10n, 0n, null, null],
    [-10n, 0n, null, null],
    [0n, 1n, 0, null],
    [-1n, 1n, 0, null],
    [1n, 1n, 1, '2026-11-22T13:00:00.000Z'],
    [1n, 3n, 0.33, '2026-11-22T12:20:00.000Z'],
    [24_000_000n, 1_000_000n, 24, '2026-11-23T12:00:00.000Z'],
    [9_223_372_036_854_775_807n, 1n, 9_223_372_036_854_776_000, null],
  ])('%s micros at %s an hour last %s hours', (balance, burn, hours, emptyAt) => {
    const left = leftOf(balance, burn, NOW);
    expect([left.hours, left.emptyAt?.toISOString() ?? null]).toEqual([hours, emptyAt]);
  });

  it('an hour is rounded up, so that something used is not nothing', () => {
    expect([0n, 1n, 24n, 25n].map((spent) => perHour({ hours: 24, spent }))).toEqual([0n, 1n, 1n, 2n]);
  });

  it('thresholds take the larger rate, within what the database can hold', () => {
    const burn = (hour: bigint, day: bigint) =>
      burnOf([
        { hours: 1, spent: hour },
        { hours: 24, spent: day },
      ]);
    expect([burn(5n, 240n), burn(11n, 240n), burn(0n, 0n), burn(1n << 63n, 0n)]).toEqual([
      10n,
      11n,
      0n,
      1n << 62n,
    ]);
  });

  it('shares are cut to the millionth', () => {
    expect([shareOf(1n, 3n), shareOf(3n, 3n), shareOf(0n, 0n)]).toEqual([0.333333, 1, 0]);
  });
});
