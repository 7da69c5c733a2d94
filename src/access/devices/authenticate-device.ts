/**
 * Authenticates a joining device by its device credential.
 *
 * Source: specification 4.11. As with API keys, every failure gives the same message.
 */

import { Failure } from '../../base/failure.ts';
import { authenticate, type KeyDeps } from '../keys/authenticate.ts';
import { parseAuthorization, verifySecret } from '../keys/verify-secret.ts';
import type { CredentialLookups } from './credential-lookups.ts';
import { CREDENTIAL_PREFIX, type Device } from './device-credential.ts';

export interface DeviceDeps extends KeyDeps {
  readonly credentialLookups: CredentialLookups;
}

/**
 * The device behind an `Authorization` header.
 *
 * Fails with `invalid_api_key`, also for a relay key; with `permission_denied` for a credential without
 * publish rights, and for a backend key, because only device credentials may join; with
 * `too_many_failed_keys`.
 */
export async function authenticateDevice(
  deps: DeviceDeps,
  authorization: string | undefined,
  address: string,
): Promise<Device> {
  const secret = parseAuthorization(authorization, CREDENTIAL_PREFIX);
  if (!secret) {
    await authenticate(deps, authorization, 'backend', address);
    throw noPublishRights();
  }

  const find = (id: string) => deps.credentialLookups.find(id);
  const { hash: _, isWorking: __, ...device } = await verifySecret(deps.failedKeys, secret, address, find);
  deps.lastUses.note('device', device.tenant, device.credentialId);
  if (device.publish.length === 0) throw noPublishRights();
  return device;
}

function noPublishRights(): Failure {
  return new Failure('permission_denied', {
    message: 'permission denied: this credential has no publish rights',
  });
}
