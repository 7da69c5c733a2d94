/**
 * The pricing rules by version, and the terms of a posting.
 *
 * A rule turns one usage record into whole micros: its exact price, and the settlement of that price.
 * A version never changes. To change the pricing, append a rule here and implement it again in
 * `money/verification/recompute-rules.ts`: `verify` recomputes each posting by the rule that charged it.
 *
 * Every rule prices over PRICE_DENOMINATOR, because a tenant's carry passes from one rule to the next.
 */

import { type Rounding, type Settlement, settleEqualPrices, settlePrice } from './carry.ts';
import type { RateCard } from './rate-card.ts';
import { ceilingOf, feeOf, type Price, priceUsage, type Usage } from './usage-price.ts';

/** Pure: the same arguments always give the same amounts. */
export interface PricingRule {
  readonly version: number;
  readonly price: (usage: Usage, rates: RateCard) => Price;
  readonly settle: (numerator: bigint, carry: bigint, rounding: Rounding) => Settlement;
  /** `settle` for `times` equal prices, at once. For simulations, which may have millions of equal records. */
  readonly settleEqual: (numerator: bigint, times: bigint, carry: bigint, rounding: Rounding) => Settlement;
  /** The fee and the ceiling that `price` compares, over PRICE_DENOMINATOR. For explanations and simulations. */
  readonly fee: (usage: Usage, rates: RateCard) => bigint;
  readonly ceiling: (usage: Usage, rates: RateCard) => bigint;
}

/** Ordered by version, starting with 1. */
export const PRICING_RULES: readonly PricingRule[] = [
  {
    version: 1,
    price: priceUsage,
    settle: settlePrice,
    settleEqual: settleEqualPrices,
    fee: feeOf,
    ceiling: ceilingOf,
  },
];

/** The newest rule, which charges all new usage. */
export const CURRENT_RULE: PricingRule = PRICING_RULES.at(-1)!;

/** `undefined`: a version of a newer release. */
export function findRule(version: number): PricingRule | undefined {
  return PRICING_RULES.find((rule) => rule.version === version);
}

/** The terms of one posting, which stores both versions and the rounding. */
export interface Terms {
  readonly rates: RateCard;
  readonly rule: PricingRule;
  readonly rounding: Rounding;
}
