/** SQL of `api_keys`. A key is judged by the clock of the database, the only one all processes share. */
import type { Db, Tx } from '../db/pool.ts';
import type { TenantId, TenantStatus } from '../tenants/tenant.ts';
import { type ApiKey, isKeyId, type KeyKind, type NewKey } from './api-key.ts';

/** A key whose time to retire has passed is revoked from that instant, whether or not a row says so. */
const COLUMNS = `id, name, kind, created_at as "createdAt",
  case when revoked_at is null and retires_at > now() then retires_at end as "retiresAt",
  least(revoked_at, case when retires_at <= now() then retires_at end) as "revokedAt"`;

export interface KeyInUse {
  readonly id: string;
  readonly tenant: TenantId;
  readonly kind: KeyKind;
  readonly hash: Buffer;
  readonly status: TenantStatus;
}

/** Those of the keys with these ids that work now, by id. */
export async function findWorkingKeys(
  db: Db,
  ids: readonly string[],
): Promise<ReadonlyMap<string, KeyInUse>> {
  const { rows } = await db.query<KeyInUse>({
    name: 'find-working-keys',
    text: `select k.id, k.tenant_id as tenant, k.kind, k.hash, t.status
             from api_keys k join tenants t on t.id = k.tenant_id
            where k.id = any($1) and k.revoked_at is null and (k.retires_at is null or k.retires_at > now())`,
    values: [ids],
  });
  return new Map(rows.map((key) => [key.id, key]));
}

export async function insertKey(
  db: Db,
  tenant: TenantId,
  key: NewKey & { name: string; kind: KeyKind },
): Promise<ApiKey> {
  const { rows } = await db.query<ApiKey>(
    `insert into api_keys (id, tenant_id, name, kind, hash) values ($1, $2, $3, $4, $5) returning ${COLUMNS}`,
    [key.id, tenant, key.name, key.kind, key.hash],
  );
  return rows[0]!;
}

export async function listKeys(db: Db, tenant: TenantId): Promise<ApiKey[]> {
  const { rows } = await db.query<ApiKey>(
    `select ${COLUMNS} from api_keys where tenant_id = $1 order by created_at, id`,
    [tenant],
  );
  return rows;
}

/** One change of a tenant's keys at a time: what one decides about the last key, no other may undo. */
export async function lockKeys(tx: Tx, tenant: TenantId): Promise<void> {
  await tx.query('select 1 from tenants where id = $1 for no key update', [tenant]);
}

export async function findKey(tx: Tx, tenant: TenantId, id: string): Promise<ApiKey | undefined> {
  // Not every text can be asked about: PostgreSQL refuses one that holds NUL.
  if (!isKeyId(id)) return undefined;
  const { rows } = await tx.query<ApiKey>(
    `select ${COLUMNS} from api_keys where tenant_id = $1 and id = $2`,
    [tenant, id],
  );
  return rows[0];
}

/** Whether another key of this kind is active and not retiring. */
export async function hasOtherKey(tx: Tx, tenant: TenantId, key: ApiKey): Promise<boolean> {
  const { rows } = await tx.query(
    `select 1 from api_keys
      where tenant_id = $1 and kind = $2 and id <> $3 and revoked_at is null and retires_at is null limit 1`,
    [tenant, key.kind, key.id],
  );
  return rows.length > 0;
}

export async function markRevoked(tx: Tx, tenant: TenantId, id: string): Promise<void> {
  await tx.query('update api_keys set revoked_at = clock_timestamp() where tenant_id = $1 and id = $2', [
    tenant,
    id,
  ]);
}

/** Returns when the key stops working. */
export async function markRetiring(
  tx: Tx,
  tenant: TenantId,
  id: string,
  overlapSeconds: number,
): Promise<Date> {
  const { rows } = await tx.query<{ retiresAt: Date }>(
    `update api_keys set retires_at = date_trunc('milliseconds', now()) + make_interval(secs => $3)
      where tenant_id = $1 and id = $2 returning retires_at as "retiresAt"`,
    [tenant, id, overlapSeconds],
  );
  return rows[0]!.retiresAt;
}
