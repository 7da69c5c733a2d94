/** Hypothetical rooms, and the records that a relay would report of them. */
import fc from 'fast-check';
import { ROLES, TIERS } from '../../../src/money/pricing/role.ts';
import type { Usage } from '../../../src/money/pricing/usage-price.ts';
import type { SimulatedParticipants } from '../../../src/money/simulation/room-price.ts';

const anyParticipants: fc.Arbitrary<SimulatedParticipants> = fc.record({
  role: fc.constantFrom(...ROLES),
  tier: fc.constantFrom(...TIERS),
  count: fc.integer({ min: 1, max: 4 }),
  seconds: fc.oneof(fc.integer({ min: 0, max: 100 }), fc.constantFrom(0, 1, 60)),
  egressBytes: fc.oneof(
    fc.bigInt(0n, 200n),
    fc.bigInt(0n, 200_000n),
    fc.bigInt(0n, 2n ** 33n),
    fc.constantFrom(0n, 1n, 26_843n, 26_844n),
  ),
  intervalSeconds: fc.oneof(fc.constant(undefined), fc.integer({ min: 5, max: 120 })),
});

/** A room of few records: each line has at most 80. */
export const anyRoom = fc.array(anyParticipants, { minLength: 1, maxLength: 5 });

/** Cut at the ends of intervals: up to each end, the bytes of the time so far were reported, in whole bytes. */
export function reportsOf({ role, tier, seconds, egressBytes, ...rest }: SimulatedParticipants): Usage[] {
  const { count, intervalSeconds = Math.max(seconds, 1) } = rest;
  const reports: Usage[] = [];
  let reported = 0n;
  for (let begin = 0; begin === 0 || begin < seconds; begin += intervalSeconds) {
    const end = Math.min(begin + intervalSeconds, seconds);
    const soFar = end === seconds ? egressBytes : (egressBytes * BigInt(end)) / BigInt(seconds);
    reports.push({ role, tier, seconds: end - begin, egressBytes: soFar - reported });
    reported = soFar;
  }
  return Array.from({ length: count }, () => reports).flat();
}
