/**
 * The exact price of usage: version 1 of the pricing rule.
 *
 * Source: specification 4.12, charging rule 1. Prices are fractions of a micro; `carry.ts` turns them
 * into whole micros.
 */
import { assert } from '../../base/lib/assert.ts';
import type { RateCard } from './rate-card.ts';
import type { Role, Tier } from './role.ts';

/** Exact prices are integers over this denominator: a GiB and 60,000 seconds both divide it. */
export const PRICE_DENOMINATOR = (1n << 30n) * 1875n;

const FEE_SCALE = 1875n; // micros x bytes / 2^30, over PRICE_DENOMINATOR
const CEILING_SCALE = 1n << 25n; // micros x seconds / 60,000, over PRICE_DENOMINATOR

/** Usage that a relay measured for one participant over one interval. */
export interface Usage {
  readonly role: Role;
  readonly tier: Tier;
  readonly seconds: number;
  readonly egressBytes: bigint;
}

/** `numerator` / PRICE_DENOMINATOR micros; `capped` says the ceiling lowered it. */
export interface Price {
  readonly numerator: bigint;
  readonly capped: boolean;
}

/** The platform fee on the egress, over PRICE_DENOMINATOR. */
export function feeOf(usage: Usage, rates: RateCard): bigint {
  return rates.platformFeePerGib * usage.egressBytes * FEE_SCALE;
}

/** The ceiling for the time connected, over PRICE_DENOMINATOR. */
export function ceilingOf(usage: Usage, rates: RateCard): bigint {
  return rates.ceilingPer1000Minutes[usage.role][usage.tier] * BigInt(usage.seconds) * CEILING_SCALE;
}

/**
 * The platform fee on egress, but never more than the ceiling for the time connected.
 *
 * A negative quantity means that the request was not validated. That is our bug: it throws
 * `AssertionError`, not a `Failure` that the caller could act on.
 */
export function priceUsage(usage: Usage, rates: RateCard): Price {
  assert(usage.seconds >= 0, 'seconds');
  assert(usage.egressBytes >= 0n, 'egressBytes');

  const fee = feeOf(usage, rates);
  const ceiling = ceilingOf(usage, rates);

  return ceiling < fee ? { numerator: ceiling, capped: true } : { numerator: fee, capped: false };
}
