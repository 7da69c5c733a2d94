/**
 * Lanes: which webhooks share places for their requests, so that receivers that answer never wait for those that do not.
 *
 * Receivers that are slow or fail have lanes of their own, and so have tenants that never paid, because anyone can sign
 * up. A webhook's standing says what its last attempts came to. It is a column of its cursor, so every process decides
 * alike, and nothing but deliveries changes it.
 */
import { WEBHOOKS_MAX } from './webhook.ts';

export const LANES = ['fast', 'slow', 'pending_fast', 'pending_slow'] as const;
export type Lane = (typeof LANES)[number];

interface LaneRule {
  /** Requests at once in one process. */
  readonly places: number;
  readonly placesPerTenant: number;
  /** Where a request goes on that has been in this lane for too long; `undefined`: it may be cut off there. */
  readonly next?: Lane;
}

export const LANE_RULES: Readonly<Record<Lane, LaneRule>> = {
  fast: { places: 128, placesPerTenant: WEBHOOKS_MAX, next: 'slow' },
  slow: { places: 128, placesPerTenant: WEBHOOKS_MAX },
  pending_fast: { places: 64, placesPerTenant: 10, next: 'pending_slow' },
  pending_slow: { places: 64, placesPerTenant: 10 },
};

/** A receiver that takes longer is slow. Its request leaves the fast lane, and may be cut off if others need its place. */
export const SLOW_MS = 1_000;
/** If others wait for the fast lane, a request leaves it earlier. It is not slow by that. */
export const CROWDED_MS = 250;

/** From which standing on a webhook is in the fast lane. Tenants that never paid have to earn it. */
export const FAST_STANDING = { paid: 0, pending: 3 } as const;
const STANDING_MAX = 3;
/** After an attempt that was slow or failed: so many quick deliveries, and one more each, lead back to `FAST_STANDING`. */
const STANDING_OF_SLOW = -10;

/** `standing` of a new webhook is 0. */
export function laneOf({ isPending, standing }: { isPending: boolean; standing: number }): Lane {
  if (isPending) return standing >= FAST_STANDING.pending ? 'pending_fast' : 'pending_slow';
  return standing >= FAST_STANDING.paid ? 'fast' : 'slow';
}

export function standingAfter(
  standing: number,
  { isDelivered, latencyMs }: { readonly isDelivered: boolean; readonly latencyMs: number },
): number {
  if (!isDelivered || latencyMs > SLOW_MS) return STANDING_OF_SLOW;
  return Math.min(standing + 1, STANDING_MAX);
}
