/**
 * How long the old one works on after the rotation of an API key or of a device credential.
 *
 * Source: specification 3.2, 4.10 and 8.
 */
import { assert } from '../../base/lib/assert.ts';

export const OVERLAP_SECONDS_DEFAULT = 86_400;
export const OVERLAP_SECONDS_MAX = 604_800;

/** Doors refuse any other overlap; one that comes this far is a bug of ours. */
export function assertOverlap(seconds: number): void {
  assert(seconds >= 0 && seconds <= OVERLAP_SECONDS_MAX, 'overlap of a rotation');
}
