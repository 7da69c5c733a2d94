import fc from 'fast-check';
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

describe('credit that ends', () => {
  const HOUR_MS = 3_600_000;
  const inHours = (hours: number) => new Date(NOW.getTime() + hours * HOUR_MS);
  const lots = (...given: readonly [left: bigint, hours: number][]) =>
    given.map(([left, hours]) => ({ left, expiresAt: inHours(hours) }));

  it.each([
    ['is spent before its end', 10n, lots([10n, 20]), 10],
    ['ends first, and nothing else is left', 10n, lots([10n, 4]), 4],
    ['ends first, and paid credit goes on', 15n, lots([10n, 4]), 9],
    ['is paid from the earliest end on', 30n, lots([10n, 4], [10n, 12]), 22],
    ['ends while the tenant owes something', 6n, lots([10n, 4]), 4],
  ])('%s', (_what, balance, ending, hours) => {
    const left = leftOf(balance, 1n, NOW, ending);
    expect([left.hours, left.emptyAt]).toEqual([hours, inHours(hours)]);
  });

  /** Hour by hour: usage takes its share of each grant in turn, then grants end. */
  function walk(balance: bigint, burn: bigint, ending: readonly { left: bigint; hours: number }[]): number {
    const open = ending.map((each) => ({ ...each }));
    for (let hour = 0; ; hour += 1) {
      for (const grant of open.filter(({ hours }) => hours === hour)) {
        balance -= grant.left;
        grant.left = 0n;
      }
      if (balance <= 0n) return hour;
      if (balance < burn) return hour + Number((balance * 100n) / burn) / 100;
      let unpaid = burn;
      for (const grant of open) {
        const paid = grant.left < unpaid ? grant.left : unpaid;
        grant.left -= paid;
        unpaid -= paid;
      }
      balance -= burn;
    }
  }

  it('lasts as long as a walk from hour to hour finds', () => {
    const amount = (max: number) => fc.integer({ min: 0, max }).map(BigInt);
    const grant = fc.record({ left: amount(200), hours: fc.integer({ min: 1, max: 60 }) });
    fc.assert(
      fc.property(
        fc.integer({ min: -100, max: 200 }).map(BigInt),
        fc.integer({ min: 1, max: 20 }).map(BigInt),
        fc.array(grant, { maxLength: 6 }),
        (paid, burn, given) => {
          const ending = given.toSorted((a, b) => a.hours - b.hours);
          const balance = ending.reduce((sum, { left }) => sum + left, paid);
          const { hours } = leftOf(
            balance,
            burn,
            NOW,
            ending.map(({ left, hours }) => ({ left, expiresAt: inHours(hours) })),
          );
          expect(hours).toBeCloseTo(walk(balance, burn, ending), 9);
        },
      ),
      { numRuns: 1_000 },
    );
  });
});
