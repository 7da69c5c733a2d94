/**
 * Relays are told of a revoked credential for as long as tokens of it may be valid. So what a tenant revokes in this time is
 * limited like what it holds: what ends a credential is never refused, what begins the next one is.
 */
import type { Tx } from '../../base/db/pool.ts';
import { assertBelowLimit, limitOf } from '../../base/tenants/limits.ts';
import type { LimitHolder } from '../../base/tenants/places.sql.ts';
import { countRevoked } from '../keys/key-life.sql.ts';
import { TOKEN_SECONDS_MAX } from '../rights/token-lifetime.ts';
import { DEVICE_CREDENTIALS_LIMIT } from './device-credential.ts';

/**
 * Fails with `quota_exceeded`. A creation asks only when it counts its places, so up to twice as many may be revoked.
 */
export async function refuseManyRevoked(tx: Tx, holder: LimitHolder): Promise<void> {
  const max = limitOf(holder, DEVICE_CREDENTIALS_LIMIT);
  const revoked = await countRevoked(tx, holder.id, TOKEN_SECONDS_MAX, max);
  assertBelowLimit(holder, DEVICE_CREDENTIALS_LIMIT, revoked, 'device credentials revoked in 15 minutes');
}
