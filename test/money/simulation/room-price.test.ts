import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { INITIAL_CARRY, ROUNDINGS, type Rounding } from '../../../src/money/pricing/carry.ts';
import { CURRENT_RULE } from '../../../src/money/pricing/pricing-rule.ts';
import { PRICE_DENOMINATOR } from '../../../src/money/pricing/usage-price.ts';
import {
  priceRoom,
  recordsOf,
  type SimulatedParticipants,
} from '../../../src/money/simulation/room-price.ts';
import { LINE_PARTICIPANTS_MAX, LINES_MAX } from '../../../src/money/simulation/simulate-room.ts';
import { BYTES_MAX, RATES } from '../pricing/support.ts';
import { anyRoom, reportsOf } from './support.ts';

const termsOf = (rounding: Rounding) => ({ rates: RATES, rule: CURRENT_RULE, rounding });

function participants(fields: Partial<SimulatedParticipants> = {}): SimulatedParticipants {
  return {
    role: 'host',
    tier: 'full_hd',
    count: 1,
    seconds: 60,
    egressBytes: 30_000_000n,
    intervalSeconds: undefined,
    ...fields,
  };
}

describe('recordsOf', () => {
  const shown = (fields: Partial<SimulatedParticipants>) =>
    recordsOf(participants(fields)).map(({ usage: { seconds, egressBytes }, times }) => [
      Number(times),
      seconds,
      Number(egressBytes),
    ]);

  it.each<[string, Partial<SimulatedParticipants>, number[][]]>([
    ['one record without an interval', {}, [[1, 60, 30_000_000]]],
    ['one record of no time', { seconds: 0, intervalSeconds: 30 }, [[1, 0, 30_000_000]]],
    ['one record of exactly an interval', { intervalSeconds: 60 }, [[1, 60, 30_000_000]]],
    ['one record of less than an interval', { intervalSeconds: 61 }, [[1, 60, 30_000_000]]],
    ['equal records', { intervalSeconds: 30 }, [[2, 30, 15_000_000]]],
    [
      'a shorter one at the end',
      { intervalSeconds: 25 },
      [
        [2, 25, 12_500_000],
        [1, 10, 5_000_000],
      ],
    ],
    [
      'records that differ by a byte',
      { intervalSeconds: 20, egressBytes: 2n },
      [
        [1, 20, 0],
        [2, 20, 1],
      ],
    ],
    ['records without bytes', { intervalSeconds: 1, egressBytes: 0n }, [[60, 1, 0]]],
  ])('%s', (_, fields, records) => {
    expect(shown(fields)).toEqual(records);
  });

  it('are those of a relay that reports whole bytes at the end of each interval', () => {
    const counted = (keys: readonly string[]) =>
      [...Map.groupBy(keys, (key) => key)].map(([key, equal]) => [key, equal.length]).sort();
    fc.assert(
      fc.property(anyRoom, ([line]) => {
        const one = { ...line!, count: 1 };
        const keyOf = ({ seconds, egressBytes }: { seconds: number; egressBytes: bigint }) =>
          `${seconds} ${egressBytes}`;
        const records = recordsOf(one).flatMap(({ usage, times }) =>
          Array.from({ length: Number(times) }, () => keyOf(usage)),
        );
        expect(counted(records)).toEqual(counted(reportsOf(one).map(keyOf)));
      }),
    );
  });
});

describe('priceRoom', () => {
  it('shows fee, ceiling, price and amount of each line', () => {
    const terms = termsOf('carry');
    const room = priceRoom(
      [
        participants(),
        participants({ role: 'audience', tier: 'hd', egressBytes: 90_000_000n }),
        participants({ role: 'audience', tier: 'audio', seconds: 10, egressBytes: 80_000n }),
      ],
      terms,
      INITIAL_CARRY,
    );
    expect(room.lines.map(({ amount, capped, records }) => [amount, capped, records])).toEqual([
      [559n, false, 1n],
      [800n, true, 1n],
      [1n, false, 1n],
    ]);
    const [first, second] = room.lines;
    expect(first).toMatchObject({ participants: 1, fee: first!.price, ceiling: 3_000n * PRICE_DENOMINATOR });
    expect(second).toMatchObject({ ceiling: second!.price, price: 800n * PRICE_DENOMINATOR });
    expect(room).toMatchObject({ participants: 3, records: 3n, amount: 1_360n });
    expect(room.price).toBe(room.lines.reduce((sum, { price }) => sum + price, 0n));
    expect(room.carryBefore + room.price).toBe(room.amount * PRICE_DENOMINATOR + room.carryAfter);
  });

  it.each(ROUNDINGS)('costs what its records cost one by one, with %s', (rounding) => {
    const terms = termsOf(rounding);
    fc.assert(
      fc.property(anyRoom, fc.bigInt(0n, PRICE_DENOMINATOR - 1n), (room, carryBefore) => {
        const priced = priceRoom(room, terms, carryBefore);
        let carry = carryBefore;
        for (const [at, line] of room.entries()) {
          const expected = { records: 0n, price: 0n, amount: 0n, capped: false };
          for (const usage of reportsOf(line)) {
            const { numerator, capped } = CURRENT_RULE.price(usage, RATES);
            const settled = CURRENT_RULE.settle(numerator, carry, rounding);
            carry = settled.carry;
            expected.records += 1n;
            expected.price += numerator;
            expected.amount += settled.amount;
            expected.capped ||= capped;
          }
          expect(priced.lines[at]).toMatchObject(expected);
        }
        expect(priced.carryAfter).toBe(carry);
        expect(priced.amount).toBe(priced.lines.reduce((sum, { amount }) => sum + amount, 0n));
      }),
    );
  });

  it('differs by a micro at most, whatever carry it starts from', () => {
    const anyCarry = fc.bigInt(0n, PRICE_DENOMINATOR - 1n);
    fc.assert(
      fc.property(anyRoom, anyCarry, anyCarry, (room, one, other) => {
        const difference =
          priceRoom(room, termsOf('carry'), one).amount - priceRoom(room, termsOf('carry'), other).amount;
        expect(difference >= -1n && difference <= 1n).toBe(true);
      }),
    );
  });

  it('rounds each record, not each line, without a carry', () => {
    // Half a micro each.
    const line = { tier: 'audio', seconds: 600, egressBytes: 26_844n * 60n, count: 1_000 } as const;
    const inOne = priceRoom([participants(line)], termsOf('per_record'), INITIAL_CARRY);
    expect(inOne.amount).toBe(30_000n);
    const inMany = priceRoom(
      [participants({ ...line, intervalSeconds: 10 })],
      termsOf('per_record'),
      INITIAL_CARRY,
    );
    expect(inMany).toMatchObject({ amount: 60_000n, records: 60_000n, price: inOne.price });
  });

  it('is exact for the largest room, in no time', () => {
    const largest = participants({
      tier: '2k_plus',
      count: LINE_PARTICIPANTS_MAX,
      seconds: 86_400,
      egressBytes: BYTES_MAX,
      intervalSeconds: 1,
    });
    const room = priceRoom(
      Array.from({ length: LINES_MAX }, () => largest),
      termsOf('carry'),
      INITIAL_CARRY,
    );
    expect(room.records).toBe(86_400n * 5_000_000n);
    expect(room.amount).toBe(17_280_000n * 5_000_000n);
    expect(room.lines[0]!.fee).toBe(20_000n * BYTES_MAX * 1_875n * 100_000n);
  });
});
