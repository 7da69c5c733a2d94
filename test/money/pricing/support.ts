/** Arbitrary valid usage records, and their exact prices by the built-in rate card. */
import fc from 'fast-check';
import { BUILT_IN_RATES, parseRateCard, type RateCard } from '../../../src/money/pricing/rate-card.ts';
import { ROLES, TIERS } from '../../../src/money/pricing/role.ts';
import type { Usage } from '../../../src/money/pricing/usage-price.ts';
import { exactPrice, type Fraction } from '../../support/check-ledger.ts';

export const RATES: RateCard = { version: 1, ...parseRateCard(BUILT_IN_RATES) };
export const GIB = 2n ** 30n;
export const BYTES_MAX = BigInt(Number.MAX_SAFE_INTEGER);

export function usage(fields: Partial<Usage> = {}): Usage {
  return { role: 'host', tier: 'hd', seconds: 3600, egressBytes: GIB, ...fields };
}

export function exactly(one: Usage): { price: Fraction; capped: boolean } {
  const { role, tier, seconds, egressBytes } = one;
  return exactPrice(BUILT_IN_RATES, { role, tier, seconds: BigInt(seconds), bytes: egressBytes });
}

export const anyUsage = fc.record({
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
