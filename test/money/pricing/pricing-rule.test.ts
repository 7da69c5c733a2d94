import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { INITIAL_CARRY } from '../../../src/money/pricing/carry.ts';
import { CURRENT_RULE, findRule, PRICING_RULES } from '../../../src/money/pricing/pricing-rule.ts';
import { BUILT_IN_RATES, parseRateCard, type RateCard } from '../../../src/money/pricing/rate-card.ts';
import { ROLES, TIERS } from '../../../src/money/pricing/role.ts';
import { ROLE_CODES, TIER_CODES } from '../../../src/money/pricing/role-codes.ts';
import { PRICE_DENOMINATOR } from '../../../src/money/pricing/usage-price.ts';
import {
  FIRST_CARRY,
  HALF,
  PARTS,
  RECOMPUTE_RULES,
  SHORTENED_BY,
} from '../../../src/money/verification/recompute-rules.ts';

const RATES: RateCard = { version: 1, ...parseRateCard(BUILT_IN_RATES) };

const anyRecord = fc.record({
  role: fc.constantFrom(...ROLES),
  tier: fc.constantFrom(...TIERS),
  seconds: fc.integer({ min: 0, max: 86_400 }),
  egressBytes: fc.oneof(fc.bigInt(0n, 200_000n), fc.bigInt(0n, 2n ** 36n)),
});

it('numbers the versions from 1 without a gap, and charges by the newest', () => {
  expect(PRICING_RULES.map(({ version }) => version)).toEqual(PRICING_RULES.map((_, index) => index + 1));
  expect(CURRENT_RULE).toBe(PRICING_RULES.at(-1));
});

it('finds a rule by its version, and none of a newer release', () => {
  for (const rule of PRICING_RULES) expect(findRule(rule.version)).toBe(rule);
  expect(findRule(CURRENT_RULE.version + 1)).toBeUndefined();
});

it('has a rule to recompute each version', () => {
  expect(Object.keys(RECOMPUTE_RULES).map(Number)).toEqual(PRICING_RULES.map(({ version }) => version));
});

describe.each(PRICING_RULES)('version $version', ({ version, price, settle, settleEqual }) => {
  it.each(['carry', 'per_record'] as const)('charges what verify computes, with %s', (rounding) => {
    expect(PRICE_DENOMINATOR * SHORTENED_BY).toBe(PARTS);
    expect(INITIAL_CARRY).toBe(FIRST_CARRY);
    const again = RECOMPUTE_RULES[version]!;
    fc.assert(
      fc.property(fc.array(anyRecord, { maxLength: 40 }), (records) => {
        let carry = INITIAL_CARRY;
        let total = HALF;
        for (const record of records) {
          const priced = price(record, RATES);
          const settled = settle(priced.numerator, carry, rounding);
          const stored = { ...record, role: ROLE_CODES[record.role], tier: TIER_CODES[record.tier] };
          const { parts, capped } = again.price(stored, RATES);
          const { amount, after } = again.charge(total, parts, rounding);
          expect(settled.amount).toBe(amount);
          expect(priced.capped).toBe(capped);
          expect(settled.carry).toBe((after % PARTS) / SHORTENED_BY);
          carry = settled.carry;
          total = after;
        }
      }),
    );
  });

  it.each(['carry', 'per_record'] as const)(
    'settles equal prices at once as one by one, with %s',
    (rounding) => {
      const anyCarry = fc.bigInt(0n, PRICE_DENOMINATOR - 1n);
      fc.assert(
        fc.property(anyRecord, fc.nat(50), anyCarry, (record, times, before) => {
          const { numerator } = price(record, RATES);
          let carry = before;
          let amount = 0n;
          for (let time = 0; time < times; time += 1) {
            const settled = settle(numerator, carry, rounding);
            carry = settled.carry;
            amount += settled.amount;
          }
          expect(settleEqual(numerator, BigInt(times), before, rounding)).toEqual({ amount, carry });
        }),
      );
    },
  );
});
