/** SQL of `device_credentials`. */
import { filtered } from '../../base/db/filtered.ts';
import type { Db, Tx } from '../../base/db/pool.ts';
import { lockReferenceTables } from '../../base/db/reference-tables.sql.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import { isKeyId, type NewKey } from '../keys/api-key.ts';
import { IS_WORKING, LIFE_COLUMNS, NOT_EXPIRED } from '../rights/working-key.sql.ts';
import type { Device, DeviceCredential, DeviceGrant } from './device-credential.ts';

const COLUMNS = `id, name, publish, rooms, default_room as "defaultRoom", expires_at as "expiresAt",
  ${LIFE_COLUMNS}`;

/** A device with what verifies its credential. */
export interface CredentialInUse extends Device {
  readonly hash: Buffer;
  /** False: the credential was revoked or has expired, or was replaced and its overlap has ended. */
  readonly isWorking: boolean;
}

/** The credentials with these ids, by id, also those that work no longer. */
export async function findCredentialsById(
  db: Db,
  ids: readonly string[],
): Promise<ReadonlyMap<string, CredentialInUse>> {
  const { rows } = await db.query<CredentialInUse>({
    name: 'find-credentials-by-id',
    text: `select c.tenant_id as tenant, c.id as "credentialId", c.hash, c.publish, c.rooms,
                  c.default_room as "defaultRoom", t.status as "tenantStatus", t.limits as "tenantLimits",
                  (${IS_WORKING} and ${NOT_EXPIRED}) as "isWorking"
             from device_credentials c join tenants t on t.id = c.tenant_id
            where c.id = any($1)`,
    values: [ids],
  });
  return new Map(rows.map((credential) => [credential.credentialId, credential]));
}

/** Inserts nothing and returns `undefined` if the credential would already be expired. */
export async function insertCredential(
  tx: Tx,
  tenant: TenantId,
  credential: NewKey & DeviceGrant,
): Promise<DeviceCredential | undefined> {
  await lockReferenceTables(tx);
  const { rows } = await tx.query<DeviceCredential>({
    name: 'insert-credential',
    text: `with inserted as (
             insert into device_credentials (tenant_id, id, name, hash, publish, rooms, default_room, expires_at)
             select $1, $2, $3, $4, $5, $6, $7, $8 where $8::timestamptz is null or $8::timestamptz > now()
             returning *)
           select ${COLUMNS} from inserted`,
    values: [
      tenant,
      credential.id,
      credential.name,
      credential.hash,
      credential.publish,
      credential.rooms,
      credential.defaultRoom,
      credential.expiresAt,
    ],
  });
  return rows[0];
}

/** Up to `limit` credentials after the one with id `after`, the oldest first. */
export async function findCredentials(
  db: Db,
  tenant: TenantId,
  { after, limit }: { readonly after: string | undefined; readonly limit: number },
): Promise<DeviceCredential[]> {
  const { name, where, values } = filtered('find-credentials', [tenant, limit], {
    after: after && [
      '(created_at, id) > (select created_at, id from device_credentials where tenant_id = $1 and id = ?)',
      after,
    ],
  });
  const { rows } = await db.query<DeviceCredential>({
    name,
    text: `select ${COLUMNS} from device_credentials
            where tenant_id = $1 ${where} order by created_at, id limit $2`,
    values,
  });
  return rows;
}

/** Locks the row, so that the second of two concurrent changes sees the result of the first. */
export async function lockCredential(
  tx: Tx,
  tenant: TenantId,
  id: string,
): Promise<DeviceCredential | undefined> {
  // PostgreSQL rejects text that contains NUL.
  if (!isKeyId(id)) return undefined;
  await lockReferenceTables(tx);
  const { rows } = await tx.query<DeviceCredential>({
    name: 'lock-credential',
    text: `select ${COLUMNS} from device_credentials where tenant_id = $1 and id = $2 for no key update`,
    values: [tenant, id],
  });
  return rows[0];
}
