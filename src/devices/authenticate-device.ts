/**
 * Which device is joining: the check of a device credential.
 *
 * Source: specification 4.11. As with API keys, one message for every cause, every check asks the
 * database, and an address that keeps presenting wrong credentials is turned away.
 */
import type { Deps } from '../deps.ts';
import { Failure } from '../failure.ts';
import { keyIdOf, secretMatches } from '../keys/api-key.ts';
import { authenticate } from '../keys/authenticate.ts';
import { CREDENTIAL_PREFIX, type Device } from './device-credential.ts';
import { findWorkingCredential } from './device-credentials.sql.ts';

/**
 * The device behind an `Authorization` header.
 *
 * Fails with `invalid_api_key`, also for a relay key; with `permission_denied` for a credential that
 * may publish nothing, and for a backend key, which is no credential of a device however much it
 * may do elsewhere; with `too_many_failed_keys`.
 */
export async function authenticateDevice(
  deps: Deps,
  authorization: string | undefined,
  address: string,
): Promise<Device> {
  const [, plaintext] = /^Bearer +(\S+) *$/i.exec(authorization ?? '') ?? [];
  const id = plaintext && keyIdOf(plaintext, CREDENTIAL_PREFIX);
  if (!id) {
    await authenticate(deps, authorization, 'backend', address);
    throw noPublishRights();
  }

  if (!deps.failedKeys.isKnown(id)) deps.failedKeys.refuseIfBlocked(address);
  const found = await findWorkingCredential(deps.db, id);
  if (!secretMatches(plaintext, found?.hash) || !found) {
    await deps.failedKeys.count(address);
    throw new Failure('invalid_api_key');
  }
  deps.failedKeys.remember(id);
  if (found.publish.length === 0) throw noPublishRights();
  const { hash: _, ...device } = found;
  return device;
}

function noPublishRights(): Failure {
  return new Failure('permission_denied', {
    message: 'permission denied: this credential has no publish rights',
  });
}
