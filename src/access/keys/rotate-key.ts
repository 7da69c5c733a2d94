/** Replace a key with a new one. The old one works until its overlap ends. Source: specification 4.10. */
import { appendAudit } from '../../base/audit/append-audit.sql.ts';
import type { Tx } from '../../base/db/pool.ts';
import { Failure } from '../../base/failure.ts';
import { limitHolderOf } from '../../base/tenants/limited-caller.ts';
import { appendEvents } from '../../events/append-events.sql.ts';
import { API_KEYS_LIMIT, newKey } from './api-key.ts';
import type { KeyDeps } from './authenticate.ts';
import type { CreatedKey } from './create-key.ts';
import { rotatedEntry } from './key-audit.ts';
import { keyRotated } from './key-events.ts';
import { markRetiring } from './key-life.sql.ts';
import { insertKey } from './keys.sql.ts';
import { type KeyChanger, lockKey } from './lock-key.ts';
import { assertOverlap, refuseManyRetiring } from './rotation-overlap.ts';
import { noticeSecondsOf } from './tell-retiring-keys.ts';

export interface RotatedKey extends CreatedKey {
  readonly oldKeyRetires: Date;
}

/**
 * A key has one successor: a retiring or revoked key cannot be rotated again. A tenant at its limit of keys
 * may still rotate them.
 *
 * Fails with `not_found`, `ceiling_exceeded`, `already_revoked` and `already_rotated`; with `quota_exceeded`
 * if as many keys as the limit are retiring.
 */
export async function rotateKey(
  tx: Tx,
  { keyPrefix }: KeyDeps['config'],
  caller: KeyChanger,
  { keyId, overlapSeconds }: { keyId: string; overlapSeconds: number },
): Promise<RotatedKey> {
  assertOverlap(overlapSeconds);
  const { tenant, isTrusted } = caller;
  const { key: old, ceiling } = await lockKey(tx, caller, keyId);
  if (old.revokedAt) throw new Failure('already_revoked');
  if (old.retiresAt) throw new Failure('already_rotated');
  await refuseManyRetiring(tx, limitHolderOf(caller), API_KEYS_LIMIT, overlapSeconds);

  const fresh = newKey(keyPrefix);
  const key = await insertKey(tx, tenant, { ...fresh, name: old.name, kind: old.kind, ceiling, isTrusted });
  const oldKeyRetires = await markRetiring(tx, 'api_keys', tenant, old.id, {
    overlapSeconds,
    noticeSeconds: noticeSecondsOf(overlapSeconds),
  });
  await appendAudit(tx, tenant, caller.actor, rotatedEntry(old.id, key.id, oldKeyRetires));
  await appendEvents(tx, tenant, [keyRotated(key, old.id, oldKeyRetires)]);
  return { key, plaintext: fresh.plaintext, oldKeyRetires };
}
