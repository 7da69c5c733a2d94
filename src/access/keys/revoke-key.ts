/** Revoke a key at once. Source: specification 4.9. */
import { appendAudit } from '../../base/audit/append-audit.sql.ts';
import type { Tx } from '../../base/db/pool.ts';
import { Failure, invalidRequest } from '../../base/failure.ts';
import { appendEvents } from '../../events/append-events.sql.ts';
import { revokedEntry } from './key-audit.ts';
import { keyRevoked } from './key-events.ts';
import { markRevoked } from './key-life.sql.ts';
import { findKey, hasOtherKey } from './keys.sql.ts';
import { type KeyChanger, lockKey } from './lock-key.ts';

/**
 * Revoking the last working key of a kind would lock out the tenant or stop its relays, so it must be
 * confirmed. Concurrent revocations of the last two keys run one after the other: the second is refused.
 * Fails with `not_found`, `ceiling_exceeded` and `would_stop_service`.
 */
export async function revokeKey(
  tx: Tx,
  caller: KeyChanger,
  keyId: string,
  options: { stopServiceConfirmed: boolean },
): Promise<void> {
  if (keyId === caller.keyId) throw invalidRequest('a key cannot revoke itself');

  // Locked, so that no other call revokes what `hasOtherKey()` found.
  const { key } = await lockKey(tx, caller, keyId);
  if (key.revokedAt) return;

  if (!options.stopServiceConfirmed && !(await hasOtherKey(tx, caller.tenant, key))) {
    throw new Failure('would_stop_service');
  }
  await markRevoked(tx, 'api_keys', caller.tenant, key.id);
  const revoked = (await findKey(tx, caller.tenant, key.id))!;
  await appendAudit(tx, caller.tenant, caller.actor, revokedEntry(revoked));
  await appendEvents(tx, caller.tenant, [keyRevoked(revoked)]);
}
