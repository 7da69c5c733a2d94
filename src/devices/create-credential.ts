/** Create a device credential. */
import type { Db } from '../db/pool.ts';
import { invalidField } from '../failure.ts';
import { mayJoinRoom } from '../rooms/room.ts';
import type { TenantId } from '../tenants/tenant.ts';
import { type DeviceCredential, type DeviceGrant, newCredential } from './device-credential.ts';
import { insertCredential } from './device-credentials.sql.ts';

export interface CreatedCredential {
  readonly credential: DeviceCredential;
  /** Shown once, in the answer to this request; only its hash is kept. */
  readonly plaintext: string;
}

/** `undefined` where it would have expired already: each door has its own name for that field. */
export async function createCredential(
  db: Db,
  tenant: TenantId,
  grant: DeviceGrant,
): Promise<CreatedCredential | undefined> {
  if (grant.defaultRoom !== null && !mayJoinRoom(grant.rooms, grant.defaultRoom)) {
    throw invalidField('default_room', 'must be among rooms');
  }
  const fresh = newCredential();
  const credential = await insertCredential(db, tenant, { ...grant, ...fresh });
  return credential && { credential, plaintext: fresh.plaintext };
}
