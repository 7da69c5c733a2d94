/**
 * Authenticates a joining device by its device credential.
 *
 * Source: specification 4.11. As with API keys, every failure gives the same message.
 */

import { Failure } from '../../base/failure.ts';
import { authenticate, type KeyDeps } from '../keys/authenticate.ts';
import { type PresentedSecret, parseAuthorization, verifySecret } from '../keys/verify-secret.ts';
import { CREDENTIAL_PREFIX } from './device-credential.ts';
import type { CredentialInUse } from './device-credentials.sql.ts';

/**
 * The device behind an `Authorization` header, as `find` found its credential.
 *
 * Fails with `invalid_api_key`, also for a relay key; with `permission_denied` for a credential without
 * publish rights, and for a backend key, because only device credentials may join; with
 * `too_many_failed_keys`.
 */
export async function authenticateDevice<Found extends CredentialInUse>(
  deps: KeyDeps,
  authorization: string | undefined,
  address: string,
  find: (presented: PresentedSecret) => Promise<Found | undefined>,
): Promise<Omit<Found, 'hash' | 'isWorking'>> {
  const secret = parseAuthorization(authorization, CREDENTIAL_PREFIX);
  if (!secret) {
    await authenticate(deps, authorization, 'backend', address);
    throw noPublishRights();
  }

  const found = await verifySecret(deps.failedKeys, secret, address, () => find(secret));
  const { hash: _, isWorking: __, ...device } = found;
  deps.lastUses.noteDevice(device.tenant, device.credentialId);
  if (device.publish.length === 0) throw noPublishRights();
  return device;
}

function noPublishRights(): Failure {
  return new Failure('permission_denied', {
    message: 'permission denied: this credential has no publish rights',
  });
}
