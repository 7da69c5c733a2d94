import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  amountOf,
  extendHold,
  GRACE_SECONDS,
  type Hold,
  mayLapse,
  payFromHolds,
} from '../../../src/control/budgets/hold.ts';
import { CLOCK_SLACK_SECONDS } from '../../../src/money/records/usage-record.ts';

const RATE = 300_000n;

describe('extendHold', () => {
  const before = { rate: RATE, seconds: 600, until: 1_600 };

  test('adds the time that no earlier token covers', () => {
    const token = { rate: RATE, now: 1_300, until: 1_900, spentUntil: 1_300 };
    expect(extendHold(undefined, token)).toEqual({ rate: RATE, seconds: 600, until: 1_900 });
    expect(extendHold(before, token)).toEqual({ rate: RATE, seconds: 900, until: 1_900 });
    expect(extendHold(before, { ...token, until: 1_500 })).toEqual(before);
  });

  test('lets go of time that is older than the grace time, once all charges until then are spent', () => {
    const now = before.until + GRACE_SECONDS + 100;
    const token = { rate: RATE / 2n, now, until: now + 60 };
    expect(extendHold(before, { ...token, spentUntil: now })).toEqual({
      ...{ rate: RATE / 2n, seconds: 60, until: now + 60 },
    });
    expect(extendHold(before, { ...token, spentUntil: before.until })).toMatchObject({
      ...{ rate: RATE, seconds: 660 },
    });
  });
});

test('until when charges were spent matters only where a hold may lapse', () => {
  const seconds = fc.nat(2_000);
  fc.assert(
    fc.property(seconds, seconds, seconds, seconds, (held, until, now, behind) => {
      const hold = { rate: RATE, seconds: held, until };
      fc.pre(!mayLapse(hold, now));
      const token = { rate: RATE, now, until: now + 600 };
      const late = extendHold(hold, { ...token, spentUntil: now - behind });
      expect(extendHold(hold, { ...token, spentUntil: now })).toEqual(late);
    }),
  );
});

/** All holds of the tests have ended by then. */
const OVER = new Date(0);

const byRate = (a: Pick<Hold, 'rate'>, b: Pick<Hold, 'rate'>) => Number(a.rate - b.rate);

/** A charge that costs as much as they do to the micro, of which two micros are lost to rounding. */
const ROUNDED_TWICE = [
  { rate: 3_016_473n, seconds: 109, until: 0 },
  { rate: 8_666_724n, seconds: 2, until: 0 },
  { rate: 8_757_837n, seconds: 805, until: 0 },
];

test('holds pay all that tokens can cost, and what leaves them is never less than what they pay', () => {
  const hold = fc.record({
    rate: fc.bigInt(0n, 10n ** 7n),
    seconds: fc.nat(3_600),
    until: fc.constant(0),
  });
  const charge = fc.record({ seconds: fc.nat(900), micros: fc.bigInt(0n, 10n ** 6n) });
  const sum = (holds: readonly { rate: bigint; seconds: number }[]) =>
    holds.reduce((all, each) => all + amountOf(each), 0n);
  fc.assert(
    fc.property(fc.array(hold, { maxLength: 3 }), charge, (given, { seconds, micros }) => {
      const holds = given.toSorted(byRate);
      const { after, paid, rest } = payFromHolds(holds, { seconds, micros, at: OVER });
      expect(paid.reduce((all, each) => all + each.micros, 0n) + rest).toBe(micros);
      expect(paid.every((each) => each.released >= each.micros)).toBe(true);
      expect(sum(after)).toBe(sum(holds) - paid.reduce((all, each) => all + each.released, 0n));
      expect(after.every((each, at) => each.seconds >= 0 && each.seconds <= holds[at]!.seconds)).toBe(true);
      // Each hold is rounded by itself. More than that is left over only where nothing is held any more.
      const rounding = Math.max(1, paid.filter(({ released }) => released > 0n).length);
      if (rest > BigInt(rounding)) expect(sum(after)).toBe(0n);
    }),
    { examples: [[ROUNDED_TWICE, { seconds: 897, micros: 120_499n }]] },
  );
});

test('two devices of a participant at different rates never have holds for less than what they may still cost', () => {
  const device = fc.record({ rate: fc.bigInt(1n, 10n ** 7n), seconds: fc.integer({ min: 1, max: 900 }) });
  const used = fc.record({ cheap: fc.nat(60), dear: fc.nat(60), percent: fc.bigInt(0n, 100n) });
  fc.assert(
    fc.property(device, device, fc.array(used, { maxLength: 40 }), (one, other, charges) => {
      let holds = [one, other].toSorted(byRate).map((each) => ({ ...each, until: 0 }));
      const left = holds.map(({ seconds }) => seconds);
      for (const { cheap, dear, percent } of charges) {
        const times = [Math.min(cheap, left[0]!), Math.min(dear, left[1]!)] as const;
        times.forEach((time, at) => {
          left[at]! -= time;
        });
        const micros = times.reduce(
          (sum, time, at) => sum + (holds[at]!.rate * BigInt(time) * percent) / 6_000_000n,
          0n,
        );
        holds = payFromHolds(holds, { seconds: times[0] + times[1], micros, at: OVER }).after;
        // Exact: holds are rounded each by itself.
        const held = holds.reduce((sum, { rate, seconds }) => sum + rate * BigInt(seconds), 0n);
        const mayCost = holds.reduce((sum, { rate }, at) => sum + rate * BigInt(left[at]!), 0n);
        expect(held).toBeGreaterThanOrEqual(mayCost);
      }
    }),
  );
});

test('relays that report more than can have passed do not take time that has yet to come', () => {
  const hold = fc.record({
    rate: fc.bigInt(1n, 10n ** 7n),
    seconds: fc.nat(3_600),
    until: fc.nat(3_600),
  });
  const charge = fc.record({
    seconds: fc.nat(86_400),
    micros: fc.bigInt(0n, 10n ** 6n),
    at: fc.nat(3_600).map((seconds) => new Date(seconds * 1000)),
  });
  fc.assert(
    fc.property(fc.array(hold, { maxLength: 3 }), charge, (given, used) => {
      const holds = given.toSorted(byRate);
      const { after } = payFromHolds(holds, used);
      holds.forEach(({ seconds, until }, place) => {
        const toCome = Math.max(0, until - used.at.getTime() / 1000 - CLOCK_SLACK_SECONDS);
        const kept = Math.min(seconds, toCome);
        expect(after[place]!.seconds).toBeGreaterThanOrEqual(kept);
        if (used.seconds >= 10_800) expect(after[place]!.seconds).toBe(kept);
      });
    }),
  );
});

test('a charge returns holds that lose nothing as they are, because a user may have thousands', () => {
  const holds = Array.from({ length: 3 }, () => ({ rate: RATE, seconds: 60, until: 0 }));
  const { after, paid, rest } = payFromHolds(holds, { seconds: 60, micros: 300n, at: OVER });
  expect(after).toEqual([{ ...holds[0], seconds: 0 }, holds[1], holds[2]]);
  for (const at of [1, 2]) expect(after[at]).toBe(holds[at]);
  expect(paid.map(({ micros }) => micros)).toEqual([300n, 0n, 0n]);
  expect(rest).toBe(0n);
});
