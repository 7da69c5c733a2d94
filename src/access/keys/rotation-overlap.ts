/**
 * How long the old key works after the rotation of an API key or device credential.
 *
 * Source: specification 3.2, 4.10 and 8.
 */
import { assert } from '../../base/lib/assert.ts';

export const OVERLAP_SECONDS_DEFAULT = 86_400;
export const OVERLAP_SECONDS_MAX = 604_800;

/** Doors reject any other overlap, so a failure here is our bug. */
export function assertOverlap(seconds: number): void {
  assert(seconds >= 0 && seconds <= OVERLAP_SECONDS_MAX, 'overlap of a rotation');
}
