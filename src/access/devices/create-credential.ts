/** Create a device credential. */
import { appendAudit } from '../../base/audit/append-audit.sql.ts';
import type { Tx } from '../../base/db/pool.ts';
import { invalidField } from '../../base/failure.ts';
import { limitHolderOf } from '../../base/tenants/limited-caller.ts';
import { takePlace } from '../../base/tenants/places.sql.ts';
import { appendEvents } from '../../events/append-events.sql.ts';
import { countInUse } from '../keys/key-life.sql.ts';
import type { KeyChanger } from '../keys/lock-key.ts';
import { mayJoinRoom } from '../rights/room-names.ts';
import { lockForCaller } from '../sessions/lock-for-caller.ts';
import { refuseWiderGrant } from './credential-ceiling.ts';
import {
  DEVICE_CREDENTIALS_LIMIT,
  type DeviceCredential,
  type DeviceGrant,
  newCredential,
} from './device-credential.ts';
import { createdEntry } from './device-credential-audit.ts';
import { deviceCredentialCreated } from './device-credential-events.ts';
import { insertCredential } from './device-credentials.sql.ts';
import { refuseManyRevoked } from './refuse-many-revoked.ts';

export interface CreatedCredential {
  readonly credential: DeviceCredential;
  /** Returned once, in the response to this request; only its hash is stored. */
  readonly plaintext: string;
}

/**
 * Returns `undefined` if the credential would already be expired: each door names that field differently.
 *
 * Fails with `ceiling_exceeded` if a join would grant more than the caller's key may mint, and with
 * `quota_exceeded`.
 */
export async function createCredential(
  tx: Tx,
  caller: KeyChanger,
  grant: DeviceGrant,
): Promise<CreatedCredential | undefined> {
  const { tenant, ceiling } = caller;
  refuseWiderGrant(ceiling, grant);
  refuseDefaultRoom(grant);
  await lockForCaller(tx, caller);
  const fresh = newCredential();
  const credential = await insertCredential(tx, tenant, { ...grant, ...fresh });
  if (!credential) return undefined;
  const holder = limitHolderOf(caller);
  await takePlace(tx, holder, DEVICE_CREDENTIALS_LIMIT, async (most) => {
    await refuseManyRevoked(tx, holder);
    return countInUse(tx, 'device_credentials', tenant, most);
  });
  await appendAudit(tx, tenant, caller.actor, createdEntry(credential));
  await appendEvents(tx, tenant, [deviceCredentialCreated(credential)]);
  return { credential, plaintext: fresh.plaintext };
}

/** Fails with `invalid_request` unless the rooms have the one of a join that names none. */
export function refuseDefaultRoom({ rooms, defaultRoom }: Pick<DeviceGrant, 'rooms' | 'defaultRoom'>): void {
  if (defaultRoom !== null && !mayJoinRoom(rooms, defaultRoom))
    throw invalidField('default_room', 'must be among rooms');
}
