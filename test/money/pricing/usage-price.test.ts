import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CURRENT_RULE } from '../../../src/money/pricing/pricing-rule.ts';
import { BUILT_IN_RATES, parseRateCard, type RateCard } from '../../../src/money/pricing/rate-card.ts';
import { ROLES, TIERS } from '../../../src/money/pricing/role.ts';
import {
  INITIAL_CARRY,
  PRICE_DENOMINATOR,
  priceUsage,
  settlePrice,
  type Usage,
} from '../../../src/money/pricing/usage-price.ts';
import { settleRecords } from '../../../src/money/usage/bill.ts';
import type { UsageRecord } from '../../../src/money/usage/usage-record.ts';
import { UsageRecords } from '../../../src/money/usage/usage-records.ts';
import { add, exactPrice, type Fraction, roundHalfUp, ZERO } from '../../support/check-ledger.ts';

const RATES: RateCard = { version: 1, ...parseRateCard(BUILT_IN_RATES) };
const GIB = 2n ** 30n;
const BYTES_MAX = BigInt(Number.MAX_SAFE_INTEGER);

function usage(fields: Partial<Usage> = {}): Usage {
  return { role: 'host', tier: 'hd', seconds: 3600, egressBytes: GIB, ...fields };
}

function settle(records: readonly UsageRecord[], startCarry: bigint) {
  const columns = UsageRecords.from(records);
  return settleRecords(
    columns,
    columns.rows(),
    { rates: RATES, rule: CURRENT_RULE, rounding: 'carry' },
    startCarry,
  );
}

function record(fields: Partial<UsageRecord> = {}): UsageRecord {
  return { ...usage(), id: 'one', room: undefined, participant: undefined, ingressBytes: 0n, ...fields };
}

/** A new tenant's charge for this alone. */
function firstCharge(one: Usage): bigint {
  return settlePrice(priceUsage(one, RATES).numerator, INITIAL_CARRY, 'carry').amount;
}

function exactly(one: Usage): { price: Fraction; capped: boolean } {
  const { role, tier, seconds, egressBytes } = one;
  return exactPrice(BUILT_IN_RATES, { role, tier, seconds: BigInt(seconds), bytes: egressBytes });
}

const anyUsage = fc.record({
  role: fc.constantFrom(...ROLES),
  tier: fc.constantFrom(...TIERS),
  seconds: fc.integer({ min: 0, max: 86_400 }),
  egressBytes: fc.oneof(
    fc.bigInt(0n, 200_000n),
    fc.bigInt(0n, 2n ** 36n),
    fc.bigInt(0n, BYTES_MAX),
    fc.constantFrom(0n, 1n, GIB - 1n, GIB, GIB + 1n, BYTES_MAX),
  ),
});

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

  it('agrees with fractions of the formula for every legal value', () => {
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

  it('never costs more than the ceiling, and never less for more', () => {
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

  it('takes a negative quantity for our own mistake', () => {
    expect(() => priceUsage(usage({ seconds: -1 }), RATES)).toThrow('assertion failed: seconds');
    expect(() => priceUsage(usage({ egressBytes: -1n }), RATES)).toThrow('assertion failed: egressBytes');
  });
});

describe('settlePrice with a carry', () => {
  it('stays within half a micro of the exact sum over a million records', () => {
    const random = randomNumbers(20_261_120);
    let carry = INITIAL_CARRY;
    let total = 0n;
    let fees = 0n;
    let ceilings = 0n;
    let worst = 0n;
    // Sums of fees and of ceilings are kept apart in their own units: nothing here is the service's arithmetic.
    const distance = () => {
      const exact2 = 2n * (fees * 1875n + ceilings * 33_554_432n);
      const difference = exact2 - 2n * total * 2_013_265_920_000n;
      return difference < 0n ? -difference : difference;
    };
    for (let count = 1; count <= 1_000_000; count += 1) {
      const role = ROLES[random() % 3]!;
      const tier = TIERS[random() % 5]!;
      const seconds = random() % 61;
      const egressBytes = BigInt(random() % 3 === 0 ? random() % 100_000_000 : random() % 160_000);
      const { numerator, capped } = priceUsage({ role, tier, seconds, egressBytes }, RATES);
      const settled = settlePrice(numerator, carry, 'carry');
      carry = settled.carry;
      total += settled.amount;
      if (capped) ceilings += RATES.ceilingPer1000Minutes[role][tier] * BigInt(seconds);
      else fees += RATES.platformFeePerGib * egressBytes;
      if (count % 16 === 0 && distance() > worst) worst = distance();
    }
    expect(total).toBeGreaterThan(1_000_000n);
    expect(worst).toBeGreaterThan(0n);
    expect(worst).toBeLessThanOrEqual(2_013_265_920_000n);
  });

  it('charges the rounded running total, however the records are cut into batches', () => {
    fc.assert(
      fc.property(fc.array(anyUsage, { maxLength: 60 }), fc.array(fc.nat(60)), (usages, cuts) => {
        const records = usages.map((one, index) => record({ ...one, id: `${index}` }));
        const whole = settle(records, INITIAL_CARRY);

        let carry = INITIAL_CARRY;
        const amounts: bigint[] = [];
        const places = [...new Set([0, ...cuts.filter((cut) => cut < records.length), records.length])].sort(
          (a, b) => a - b,
        );
        for (const [index, from] of places.slice(0, -1).entries()) {
          const part = settle(records.slice(from, places[index + 1]), carry);
          carry = part.carry;
          amounts.push(...part.amounts);
        }
        expect(amounts).toEqual(whole.amounts);
        expect(carry).toBe(whole.carry);

        let sum = ZERO;
        for (const [index, one] of usages.entries()) {
          const next = add(sum, exactly(one).price);
          expect(amounts[index]).toBe(roundHalfUp(next) - roundHalfUp(sum));
          sum = next;
        }
        expect(whole.total).toBe(roundHalfUp(sum));
      }),
    );
  });

  it('charges the same total in every order, and moves each record by a micro at the most', () => {
    fc.assert(
      fc.property(
        fc
          .array(anyUsage, { minLength: 1, maxLength: 60 })
          .chain((usages) =>
            fc.tuple(
              fc.constant(usages),
              fc.shuffledSubarray([...usages.keys()], { minLength: usages.length }),
            ),
          ),
        ([usages, order]) => {
          const records = usages.map((one, index) => record({ ...one, id: `${index}` }));
          const inOrder = settle(records, INITIAL_CARRY);
          const shuffled = settle(
            order.map((index) => records[index]!),
            INITIAL_CARRY,
          );
          expect(shuffled.total).toBe(inOrder.total);
          expect(shuffled.carry).toBe(inOrder.carry);

          for (const [place, index] of order.entries()) {
            const difference = shuffled.amounts[place]! - inOrder.amounts[index]!;
            expect(difference >= -1n && difference <= 1n).toBe(true);
          }
        },
      ),
    );
  });

  it('keeps the carry between nothing and a micro', () => {
    fc.assert(
      fc.property(anyUsage, fc.bigInt(0n, PRICE_DENOMINATOR - 1n), (one, carry) => {
        const settled = settlePrice(priceUsage(one, RATES).numerator, carry, 'carry');
        expect(settled.carry >= 0n && settled.carry < PRICE_DENOMINATOR).toBe(true);
        expect(settled.amount >= 0n).toBe(true);
      }),
    );
  });
});

describe('settlePrice per record', () => {
  it('rounds each record half-up by itself and leaves the carry alone', () => {
    fc.assert(
      fc.property(anyUsage, fc.bigInt(0n, PRICE_DENOMINATOR - 1n), (one, carry) => {
        const settled = settlePrice(priceUsage(one, RATES).numerator, carry, 'per_record');
        expect(settled).toEqual({ amount: roundHalfUp(exactly(one).price), carry });
      }),
    );
  });
});

/** The same numbers in every run: a linear congruential generator, which is random enough for this. */
function randomNumbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state >>> 4;
  };
}
