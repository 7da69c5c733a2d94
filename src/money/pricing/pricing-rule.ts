/**
 * The pricing rules by version, and what a posting is charged by.
 *
 * A rule turns one usage record into whole micros: its exact price, and the settlement of that price.
 * A version never changes. To change how usage is priced, append a rule here, and write it a second
 * time in `money/audit/audit-rules.ts`: `verify` recomputes each posting by the rule that charged it.
 *
 * Every rule prices over PRICE_DENOMINATOR, because a tenant's carry passes from one rule to the next.
 */

import { type Rounding, type Settlement, settlePrice } from './carry.ts';
import type { RateCard } from './rate-card.ts';
import { type Price, priceUsage, type Usage } from './usage-price.ts';

/** Pure: the same arguments give the same amounts for ever. */
export interface PricingRule {
  readonly version: number;
  readonly price: (usage: Usage, rates: RateCard) => Price;
  readonly settle: (numerator: bigint, carry: bigint, rounding: Rounding) => Settlement;
}

/** In the order of their versions, which begin with 1. */
export const PRICING_RULES: readonly PricingRule[] = [{ version: 1, price: priceUsage, settle: settlePrice }];

/** The newest rule; it charges what is reported now. */
export const CURRENT_RULE: PricingRule = PRICING_RULES.at(-1)!;

/** What one posting is charged by. The posting stores both versions and the rounding. */
export interface Terms {
  readonly rates: RateCard;
  readonly rule: PricingRule;
  readonly rounding: Rounding;
}
