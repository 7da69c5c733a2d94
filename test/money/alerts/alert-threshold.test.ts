import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isCrossing } from '../../../src/money/accounts/alert-marks.ts';
import {
  findCrossed,
  marksOf,
  parseThresholds,
  type SetThreshold,
} from '../../../src/money/alerts/alert-threshold.ts';

const set = (floor: bigint | null, recoverFrom: bigint | null, isRaised: boolean): SetThreshold => ({
  kind: 'runway',
  below: 1n,
  burn: floor,
  floor,
  recoverFrom,
  raisedAt: isRaised ? new Date(0) : null,
});

describe('findCrossed', () => {
  it.each([
    // floor, recovers from, raised before, balance, crossed
    [10n, 10n, false, 10n, false],
    [10n, 10n, false, 9n, true],
    [10n, 10n, true, 9n, false],
    [10n, 10n, true, 10n, true],
    [10n, 11n, true, 10n, false],
    [10n, 11n, true, 11n, true],
    [0n, 0n, false, 0n, false],
    [0n, 0n, false, -1n, true],
    [null, null, false, -1n, false],
    [null, null, true, -1n, true],
  ] as const)(
    'floor %s, recovers from %s, raised: %s, at %s: %s',
    (floor, from, isRaised, balance, crossed) => {
      const threshold = set(floor, from, isRaised);
      expect(findCrossed([threshold], balance)).toEqual(crossed ? [threshold] : []);
    },
  );

  it('lists them as a balance passes them', () => {
    const [low, high] = [set(5n, 5n, false), set(9n, 9n, false)];
    expect(findCrossed([low, high], 1n)).toEqual([high, low]);
    const [lowRaised, highRaised] = [set(5n, 5n, true), set(9n, 9n, true)];
    expect(findCrossed([highRaised, lowRaised], 9n)).toEqual([lowRaised, highRaised]);
  });
});

describe('marksOf', () => {
  const threshold = fc
    .tuple(fc.bigInt({ min: 0n, max: 20n }), fc.bigInt({ min: 0n, max: 3n }), fc.boolean())
    .map(([floor, more, isRaised]) => set(floor, floor + more, isRaised));
  const balances = fc.bigInt({ min: -3n, max: 25n });

  it('a balance crosses the marks if and only if it crosses a threshold', () => {
    fc.assert(
      fc.property(fc.array(threshold, { maxLength: 10 }), balances, (thresholds, balance) => {
        expect(isCrossing(marksOf(thresholds, []), balance)).toBe(
          findCrossed(thresholds, balance).length > 0,
        );
      }),
    );
  });

  it('after a crossing, they are those of the thresholds as they are then', () => {
    fc.assert(
      fc.property(fc.array(threshold, { maxLength: 10 }), balances, (thresholds, balance) => {
        const crossed = findCrossed(thresholds, balance);
        const after = thresholds.map((each) =>
          crossed.includes(each) ? { ...each, raisedAt: each.raisedAt ? null : new Date(1) } : each,
        );
        const marks = marksOf(thresholds, crossed);
        expect(marks).toEqual(marksOf(after, []));
        expect(isCrossing(marks, balance)).toBe(false);
      }),
    );
  });
});

describe('parseThresholds', () => {
  it('reads both kinds', () => {
    expect(
      parseThresholds([
        { kind: 'balance', below_micros: 0 },
        { kind: 'runway', below_hours: 24 },
      ]),
    ).toEqual([
      { kind: 'balance', below: 0n },
      { kind: 'runway', below: 24n },
    ]);
  });
});
