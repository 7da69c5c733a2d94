/** Create a device credential. */
import type { Tx } from '../../base/db/pool.ts';
import { invalidField } from '../../base/failure.ts';
import { appendEvents } from '../../events/append-events.sql.ts';
import type { AuthenticatedCaller } from '../keys/authenticate.ts';
import { mayJoinRoom } from '../rights/room-names.ts';
import { refuseWiderGrant } from './credential-ceiling.ts';
import { type DeviceCredential, type DeviceGrant, newCredential } from './device-credential.ts';
import { deviceCredentialCreated } from './device-credential-events.ts';
import { insertCredential } from './device-credentials.sql.ts';

export interface CreatedCredential {
  readonly credential: DeviceCredential;
  /** Returned once, in the response to this request; only its hash is stored. */
  readonly plaintext: string;
}

/**
 * Returns `undefined` if the credential would already be expired: each door names that field differently.
 *
 * Fails with `ceiling_exceeded` if a join would grant more than the caller's key may mint.
 */
export async function createCredential(
  tx: Tx,
  { tenant, ceiling }: Pick<AuthenticatedCaller, 'tenant' | 'ceiling'>,
  grant: DeviceGrant,
): Promise<CreatedCredential | undefined> {
  refuseWiderGrant(ceiling, grant);
  if (grant.defaultRoom !== null && !mayJoinRoom(grant.rooms, grant.defaultRoom)) {
    throw invalidField('default_room', 'must be among rooms');
  }
  const fresh = newCredential();
  const credential = await insertCredential(tx, tenant, { ...grant, ...fresh });
  if (credential) await appendEvents(tx, tenant, [deviceCredentialCreated(credential)]);
  return credential && { credential, plaintext: fresh.plaintext };
}
