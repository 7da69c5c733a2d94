/**
 * A second implementation of every pricing rule.
 *
 * The arithmetic differs from `money/pricing` on purpose: it uses the unshortened denominator, and
 * computes each charge as the step of a running total. A wrong charge passes only if both are wrong in
 * the same way. A version stays as long as the database holds postings that it charged.
 */

import type { Rounding } from '../pricing/carry.ts';
import type { RateCard } from '../pricing/rate-card.ts';
import type { Role, Tier } from '../pricing/role.ts';

const BYTES_PER_GIB = 1n << 30n;
const SECONDS_PER_1000_MINUTES = 60_000n;
/** Exact prices are integers over this many parts of a micro. */
export const PARTS = BYTES_PER_GIB * SECONDS_PER_1000_MINUTES;
/** Carries are stored over a denominator shortened by this. */
export const SHORTENED_BY = 32n;
export const HALF = PARTS / 2n;

/** The initial carry of an account, as stored. */
export const FIRST_CARRY = HALF / SHORTENED_BY;

/** Reported usage, with the database's letter codes. */
export interface ReportedUsage {
  readonly role: string;
  readonly tier: string;
  readonly seconds: number;
  readonly egressBytes: bigint;
}

export interface RecomputeRule {
  /** The exact price in parts, and whether the ceiling lowered it. */
  price(usage: ReportedUsage, rates: RateCard): { readonly parts: bigint; readonly capped: boolean };
  /**
   * The micros charged for a price of `parts`. `before` and `after` are the running total in parts.
   * The carry of a posting is the fraction of a micro in its last total.
   */
  charge(
    before: bigint,
    parts: bigint,
    rounding: Rounding,
  ): { readonly amount: bigint; readonly after: bigint };
}

export type RecomputeRules = Readonly<Record<number, RecomputeRule>>;

/** By version. */
export const RECOMPUTE_RULES: RecomputeRules = {
  1: { price: lowerOfFeeAndCeiling, charge: stepOfTotal },
};

const ROLES: Readonly<Record<string, Role>> = { h: 'host', a: 'audience', b: 'broadcast_audience' };
const TIERS: Readonly<Record<string, Tier>> = { a: 'audio', h: 'hd', f: 'full_hd', '2': '2k', k: '2k_plus' };

function lowerOfFeeAndCeiling(usage: ReportedUsage, rates: RateCard) {
  const fee = usage.egressBytes * rates.platformFeePerGib * SECONDS_PER_1000_MINUTES;
  const ceiling =
    BigInt(usage.seconds) *
    rates.ceilingPer1000Minutes[ROLES[usage.role]!][TIERS[usage.tier]!] *
    BYTES_PER_GIB;
  return ceiling < fee ? { parts: ceiling, capped: true } : { parts: fee, capped: false };
}

function stepOfTotal(before: bigint, parts: bigint, rounding: Rounding) {
  if (rounding === 'per_record') return { amount: (parts + HALF) / PARTS, after: before };
  const after = before + parts;
  return { amount: after / PARTS - before / PARTS, after };
}
