import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { INITIAL_CARRY, settlePrice } from '../../../src/money/pricing/carry.ts';
import { CURRENT_RULE } from '../../../src/money/pricing/pricing-rule.ts';
import { ROLES, TIERS } from '../../../src/money/pricing/role.ts';
import { PRICE_DENOMINATOR, priceUsage } from '../../../src/money/pricing/usage-price.ts';
import type { UsageRecord } from '../../../src/money/records/usage-record.ts';
import { UsageRecords } from '../../../src/money/records/usage-records.ts';
import { settleRecords } from '../../../src/money/usage/bill.ts';
import { add, roundHalfUp, ZERO } from '../../support/check-ledger.ts';
import { anyUsage, exactly, RATES, usage } from './support.ts';

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

describe('settlePrice with a carry', () => {
  it('stays within half a micro of the exact sum over a million records', () => {
    const random = randomNumbers(20_261_120);
    let carry = INITIAL_CARRY;
    let total = 0n;
    let fees = 0n;
    let ceilings = 0n;
    let worst = 0n;
    // Fees and ceilings are summed separately in their own units, without the service's arithmetic.
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
        expect(amounts).toEqual([...whole.amounts]);
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

  it('charges the same total in every order, and changes each record by a micro at most', () => {
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

  it('keeps the carry between zero and a micro', () => {
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
  it('rounds each record half-up on its own and keeps the carry', () => {
    fc.assert(
      fc.property(anyUsage, fc.bigInt(0n, PRICE_DENOMINATOR - 1n), (one, carry) => {
        const settled = settlePrice(priceUsage(one, RATES).numerator, carry, 'per_record');
        expect(settled).toEqual({ amount: roundHalfUp(exactly(one).price), carry });
      }),
    );
  });
});

/** A linear congruential generator: the same numbers in every run. */
function randomNumbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state >>> 4;
  };
}
