/**
 * How long the old key works after the rotation of an API key or device credential.
 *
 * Source: specification 3.2, 4.10 and 8.
 */
import type { Tx } from '../../base/db/pool.ts';
import { assert } from '../../base/lib/assert.ts';
import { assertBelowLimit, limitOf, type TenantLimit } from '../../base/tenants/limits.ts';
import type { LimitHolder } from '../../base/tenants/places.sql.ts';
import { countRetiring } from './key-life.sql.ts';

export const OVERLAP_SECONDS_DEFAULT = 86_400;
export const OVERLAP_SECONDS_MAX = 604_800;

/** Doors reject any other overlap, so a failure here is our bug. */
export function assertOverlap(seconds: number): void {
  assert(seconds >= 0 && seconds <= OVERLAP_SECONDS_MAX, 'overlap of a rotation');
}

const RETIRING = {
  api_keys: 'retiring API keys',
  device_credentials: 'retiring device credentials',
} as const;

/**
 * Fails with `quota_exceeded` if as many keys are retiring as may be live: otherwise a tenant could hold any
 * number of keys that work. A rotation without an overlap leaves none. The tenant must be locked.
 */
export async function refuseManyRetiring(
  tx: Tx,
  holder: LimitHolder,
  limit: TenantLimit & { readonly name: keyof typeof RETIRING },
  overlapSeconds: number,
): Promise<void> {
  if (overlapSeconds === 0) return;
  const retiring = await countRetiring(tx, limit.name, holder.id, limitOf(holder, limit));
  assertBelowLimit(holder, limit, retiring, RETIRING[limit.name]);
}
