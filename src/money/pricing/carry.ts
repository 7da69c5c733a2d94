/**
 * Whole micros from exact prices, with a carry so that short intervals lose nothing: the charges of a
 * tenant stay within half a micro of the sum of its exact prices.
 *
 * Source: specification 4.12, charging rule 1.
 */
import { PRICE_DENOMINATOR } from './usage-price.ts';

/** The carry of a new tenant. Half a micro makes its first charge round half-up. */
export const INITIAL_CARRY = PRICE_DENOMINATOR / 2n;

/** Whole micros, and the carry over PRICE_DENOMINATOR for the next charge. */
export interface Settlement {
  readonly amount: bigint;
  readonly carry: bigint;
}

/** `carry`: fractions go to the next charge. `per_record`: each record is rounded half-up on its own. */
export const ROUNDINGS = ['carry', 'per_record'] as const;
export type Rounding = (typeof ROUNDINGS)[number];

/** The whole micros of an exact price, given the carry of the tenant's earlier charges. */
export function settlePrice(numerator: bigint, carry: bigint, rounding: Rounding): Settlement {
  if (rounding === 'per_record') {
    return { amount: (numerator + INITIAL_CARRY) / PRICE_DENOMINATOR, carry };
  }
  const total = carry + numerator;
  const amount = total / PRICE_DENOMINATOR;
  return { amount, carry: total - amount * PRICE_DENOMINATOR };
}

/** What `times` equal prices cost if they are settled one after the other. */
export function settleEqualPrices(
  numerator: bigint,
  times: bigint,
  carry: bigint,
  rounding: Rounding,
): Settlement {
  if (rounding === 'per_record') {
    return { amount: settlePrice(numerator, carry, rounding).amount * times, carry };
  }
  return settlePrice(numerator * times, carry, rounding);
}
