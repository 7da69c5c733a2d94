/** Create a device credential. */
import type { Deps } from '../deps.ts';
import { invalidRequest } from '../failure.ts';
import { mayJoinRoom } from '../rooms/room.ts';
import type { TenantId } from '../tenants/tenant.ts';
import { type DeviceCredential, type DeviceGrant, newCredential } from './device-credential.ts';
import { insertCredential } from './device-credentials.sql.ts';

export interface CreatedCredential {
  readonly credential: DeviceCredential;
  /** Shown once, in the answer to this request; only its hash is kept. */
  readonly plaintext: string;
}

export async function createCredential(
  deps: Deps,
  tenant: TenantId,
  grant: DeviceGrant,
): Promise<CreatedCredential> {
  if (grant.defaultRoom !== null && !mayJoinRoom(grant.rooms, grant.defaultRoom)) {
    throw invalidRequest('default_room must be among rooms');
  }
  const fresh = newCredential();
  const credential = await insertCredential(deps.db, tenant, { ...grant, ...fresh });
  if (!credential) throw invalidRequest('expires_at must be in the future');
  return { credential, plaintext: fresh.plaintext };
}
