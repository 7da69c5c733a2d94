/** How the amount of one usage record comes about, step by step. Pure. */
import type { Rounding } from './carry.ts';
import { displayFraction, type ExactMicros, exactMicros } from './exact-micros.ts';
import type { Terms } from './pricing-rule.ts';
import type { Usage } from './usage-price.ts';

const BYTES_PER_GIB = 1n << 30n;
const SECONDS_PER_MINUTE = 60n;
/** Decimals of quantities. */
const PLACES_MAX = 12;

/** Amounts without a fraction are in micros. */
export interface Explanation {
  readonly rateVersion: number;
  readonly ruleVersion: number;
  readonly rounding: Rounding;

  readonly egressBytes: bigint;
  /** The same in GiB, rounded to 12 decimals: `0.027939677238`. */
  readonly egressGib: string;
  readonly platformFeePerGib: bigint;
  readonly fee: ExactMicros;

  readonly seconds: number;
  /** The same in minutes, rounded to 12 decimals. */
  readonly minutes: string;
  /** For the role and the tier. */
  readonly ceilingPer1000Minutes: bigint;
  readonly ceiling: ExactMicros;

  /** The ceiling is below the fee, and so is the price. Otherwise the fee is. */
  readonly capped: boolean;
  readonly price: ExactMicros;

  /** With rounding `carry`: `carryBefore` + `price` = `amount` + `carryAfter`. */
  readonly carryBefore: ExactMicros;
  readonly amount: bigint;
  readonly carryAfter: ExactMicros;
}

/** `carryBefore`: over PRICE_DENOMINATOR, as the tenant's earlier charges left it. */
export function explainPrice(
  usage: Usage,
  { rates, rule, rounding }: Terms,
  carryBefore: bigint,
): Explanation {
  const price = rule.price(usage, rates);
  const { amount, carry } = rule.settle(price.numerator, carryBefore, rounding);
  return {
    rateVersion: rates.version,
    ruleVersion: rule.version,
    rounding,
    egressBytes: usage.egressBytes,
    egressGib: displayFraction(usage.egressBytes, BYTES_PER_GIB, PLACES_MAX),
    platformFeePerGib: rates.platformFeePerGib,
    fee: exactMicros(rule.fee(usage, rates)),
    seconds: usage.seconds,
    minutes: displayFraction(BigInt(usage.seconds), SECONDS_PER_MINUTE, PLACES_MAX),
    ceilingPer1000Minutes: rates.ceilingPer1000Minutes[usage.role][usage.tier],
    ceiling: exactMicros(rule.ceiling(usage, rates)),
    capped: price.capped,
    price: exactMicros(price.numerator),
    carryBefore: exactMicros(carryBefore),
    amount,
    carryAfter: exactMicros(carry),
  };
}
