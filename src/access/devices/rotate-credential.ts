/** Replace a device credential with a new one of the same grant. The old one works until its overlap ends. */
import { appendAudit } from '../../base/audit/append-audit.sql.ts';
import type { Tx } from '../../base/db/pool.ts';
import { Failure, notFound } from '../../base/failure.ts';
import { limitHolderOf } from '../../base/tenants/limited-caller.ts';
import { appendEvents } from '../../events/append-events.sql.ts';
import { markRetiring } from '../keys/key-life.sql.ts';
import type { KeyChanger } from '../keys/lock-key.ts';
import { assertOverlap, refuseManyRetiring } from '../keys/rotation-overlap.ts';
import { noticeSecondsOf } from '../keys/tell-retiring-keys.ts';
import { lockForCaller } from '../sessions/lock-for-caller.ts';
import type { CreatedCredential } from './create-credential.ts';
import { refuseWiderGrant } from './credential-ceiling.ts';
import { DEVICE_CREDENTIALS_LIMIT, newCredential } from './device-credential.ts';
import { rotatedEntry } from './device-credential-audit.ts';
import { deviceCredentialRotated } from './device-credential-events.ts';
import { insertCredential, lockCredential } from './device-credentials.sql.ts';
import { refuseManyRevoked } from './refuse-many-revoked.ts';

export interface RotatedCredential extends CreatedCredential {
  readonly oldCredentialRetires: Date;
}

/**
 * Like a key, a credential has one successor. An expired one has none, because it would be expired too. A
 * tenant at its limit may still rotate.
 *
 * Fails with `not_found`, `ceiling_exceeded`, `already_revoked`, `already_rotated` and `already_expired`;
 * with `quota_exceeded` if as many credentials as the limit are retiring.
 */
export async function rotateCredential(
  tx: Tx,
  caller: KeyChanger,
  id: string,
  overlapSeconds: number,
): Promise<RotatedCredential> {
  assertOverlap(overlapSeconds);
  const { tenant, ceiling } = caller;
  // Serialize rotations of the tenant, because they count what is retiring.
  await lockForCaller(tx, caller);
  const old = await lockCredential(tx, tenant, id);
  if (!old) throw notFound('device credential');
  refuseWiderGrant(ceiling, old);
  if (old.revokedAt) throw new Failure('already_revoked');
  if (old.retiresAt) throw new Failure('already_rotated');

  const fresh = newCredential();
  const credential = await insertCredential(tx, tenant, { ...old, ...fresh });
  if (!credential) throw new Failure('already_expired');
  const holder = limitHolderOf(caller);
  await refuseManyRetiring(tx, holder, DEVICE_CREDENTIALS_LIMIT, overlapSeconds);
  await refuseManyRevoked(tx, holder);
  const oldCredentialRetires = await markRetiring(tx, 'device_credentials', tenant, id, {
    overlapSeconds,
    noticeSeconds: noticeSecondsOf(overlapSeconds),
  });
  await appendAudit(tx, tenant, caller.actor, rotatedEntry(id, credential.id, oldCredentialRetires));
  await appendEvents(tx, tenant, [deviceCredentialRotated(credential, id, oldCredentialRetires)]);
  return { credential, plaintext: fresh.plaintext, oldCredentialRetires };
}
