/** Revoke a device credential at once. Relays hear of it by the revocation feed, and end its sessions. */
import { appendAudit } from '../../base/audit/append-audit.sql.ts';
import type { Tx } from '../../base/db/pool.ts';
import { notFound } from '../../base/failure.ts';
import { appendEvents } from '../../events/append-events.sql.ts';
import { markRevoked } from '../keys/key-life.sql.ts';
import type { KeyChanger } from '../keys/lock-key.ts';
import { refuseWiderGrant } from './credential-ceiling.ts';
import type { DeviceCredential } from './device-credential.ts';
import { revokedEntry } from './device-credential-audit.ts';
import { deviceCredentialRevoked } from './device-credential-events.ts';
import { lockCredential } from './device-credentials.sql.ts';

/**
 * Returns the credential after the change. Revoking a revoked credential changes nothing.
 *
 * Fails with `not_found` and `ceiling_exceeded`.
 */
export async function revokeCredential(
  tx: Tx,
  { tenant, ceiling, actor }: Pick<KeyChanger, 'tenant' | 'ceiling' | 'actor'>,
  id: string,
): Promise<DeviceCredential> {
  const credential = await lockCredential(tx, tenant, id);
  if (!credential) throw notFound('device credential');
  refuseWiderGrant(ceiling, credential);
  if (credential.revokedAt) return credential;
  await markRevoked(tx, 'device_credentials', tenant, id);
  const revoked = (await lockCredential(tx, tenant, id))!;
  await appendAudit(tx, tenant, actor, revokedEntry(revoked));
  await appendEvents(tx, tenant, [deviceCredentialRevoked(revoked)]);
  return revoked;
}
