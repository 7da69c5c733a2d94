/** Revoke a device credential at once. Tokens minted with it stay valid until they expire. */
import type { Tx } from '../../base/db/pool.ts';
import { notFound } from '../../base/failure.ts';
import { appendEvents } from '../../events/append-events.sql.ts';
import type { AuthenticatedCaller } from '../keys/authenticate.ts';
import { markRevoked } from '../keys/working-key.sql.ts';
import { refuseWiderGrant } from './credential-ceiling.ts';
import type { DeviceCredential } from './device-credential.ts';
import { deviceCredentialRevoked } from './device-credential-events.ts';
import { lockCredential } from './device-credentials.sql.ts';

/**
 * Returns the credential after the change. Revoking a revoked credential changes nothing.
 *
 * Fails with `not_found` and `ceiling_exceeded`.
 */
export async function revokeCredential(
  tx: Tx,
  { tenant, ceiling }: Pick<AuthenticatedCaller, 'tenant' | 'ceiling'>,
  id: string,
): Promise<DeviceCredential> {
  const credential = await lockCredential(tx, tenant, id);
  if (!credential) throw notFound('device credential');
  refuseWiderGrant(ceiling, credential);
  if (credential.revokedAt) return credential;
  await markRevoked(tx, 'device_credentials', tenant, id);
  const revoked = (await lockCredential(tx, tenant, id))!;
  await appendEvents(tx, tenant, [deviceCredentialRevoked(revoked)]);
  return revoked;
}
