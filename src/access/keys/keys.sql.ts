/** SQL of `api_keys`. */
import { filtered } from '../../base/db/filtered.ts';
import type { Db, Tx } from '../../base/db/pool.ts';
import { lockReferenceTables } from '../../base/db/reference-tables.sql.ts';
import type { LimitOverrides } from '../../base/tenants/limits.ts';
import type { TenantId, TenantStatus } from '../../base/tenants/tenant.ts';
import { CEILING_COLUMNS } from '../rights/key-ceiling.sql.ts';
import { DEFAULT_CEILING, type KeyCeiling } from '../rights/key-ceiling.ts';
import { IS_WORKING, LIFE_COLUMNS } from '../rights/working-key.sql.ts';
import { type ApiKey, isKeyId, type KeyKind, type NewKey } from './api-key.ts';

const COLUMNS = `id, name, kind, ${LIFE_COLUMNS}`;

export interface KeyInUse {
  readonly id: string;
  readonly tenant: TenantId;
  readonly kind: KeyKind;
  readonly hash: Buffer;
  readonly status: TenantStatus;
  /** As an operator changed them. */
  readonly limits: LimitOverrides | null;
  readonly ceiling: KeyCeiling;
  readonly isTrusted: boolean;
  /** False: it was revoked, or replaced and its overlap has ended. */
  readonly isWorking: boolean;
}

/** The keys with these ids, by id, also those that work no longer. */
export async function findKeysById(db: Db, ids: readonly string[]): Promise<ReadonlyMap<string, KeyInUse>> {
  const { rows } = await db.query<Omit<KeyInUse, 'ceiling'> & KeyCeiling>({
    name: 'find-keys-by-id',
    text: `select k.id, k.tenant_id as tenant, k.kind, k.hash, t.status, t.limits, (${IS_WORKING}) as "isWorking",
                  k.trusted as "isTrusted", ${CEILING_COLUMNS}
             from api_keys k join tenants t on t.id = k.tenant_id
            where k.id = any($1)`,
    values: [ids],
  });
  return new Map(
    rows.map(({ id, tenant, kind, hash, status, limits, isWorking, isTrusted, ...ceiling }) => [
      id,
      { id, tenant, kind, hash, status, limits, isWorking, isTrusted, ceiling },
    ]),
  );
}

export async function insertKey(
  tx: Tx,
  tenant: TenantId,
  key: NewKey & { name: string; kind: KeyKind; isTrusted?: boolean; ceiling?: KeyCeiling },
): Promise<ApiKey> {
  const { capabilities, roles, rooms, rank, lifetimeSeconds } = key.ceiling ?? DEFAULT_CEILING;
  await lockReferenceTables(tx);
  const { rows } = await tx.query<ApiKey>({
    name: 'insert-key',
    text: `with inserted as (
             insert into api_keys (id, tenant_id, name, kind, hash, ceiling_capabilities, ceiling_roles, ceiling_rooms,
                                   ceiling_rank, ceiling_lifetime_seconds, trusted)
             values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) returning *)
           select ${COLUMNS} from inserted`,
    values: [
      key.id,
      tenant,
      key.name,
      key.kind,
      key.hash,
      capabilities,
      roles,
      rooms,
      rank,
      lifetimeSeconds,
      key.isTrusted ?? false,
    ],
  });
  return rows[0]!;
}

/** Up to `limit` keys after the one with id `after`, the oldest first; without a limit, all. */
export async function findKeys(
  db: Db,
  tenant: TenantId,
  { after, limit }: { readonly after?: string | undefined; readonly limit?: number } = {},
): Promise<ApiKey[]> {
  const { name, where, values } = filtered('find-keys', [tenant, limit], {
    after: after && [
      '(created_at, id) > (select created_at, id from api_keys where tenant_id = $1 and id = ?)',
      after,
    ],
  });
  const { rows } = await db.query<ApiKey>({
    name,
    text: `select ${COLUMNS} from api_keys
            where tenant_id = $1 ${where} order by created_at, id limit $2`,
    values,
  });
  return rows;
}

export async function findKey(tx: Tx, tenant: TenantId, id: string): Promise<ApiKey | undefined> {
  // PostgreSQL rejects text that contains NUL.
  if (!isKeyId(id)) return undefined;
  const { rows } = await tx.query<ApiKey>({
    name: 'find-key',
    text: `select ${COLUMNS} from api_keys where tenant_id = $1 and id = $2`,
    values: [tenant, id],
  });
  return rows[0];
}

export async function markTrusted(tx: Tx, tenant: TenantId, id: string): Promise<void> {
  await lockReferenceTables(tx);
  await tx.query({
    name: 'mark-key-trusted',
    text: 'update api_keys set trusted = true where tenant_id = $1 and id = $2',
    values: [tenant, id],
  });
}

/** Whether another key of this kind is active and not retiring. */
export async function hasOtherKey(tx: Tx, tenant: TenantId, key: ApiKey): Promise<boolean> {
  const { rows } = await tx.query({
    name: 'has-other-key',
    text: `select from api_keys
            where tenant_id = $1 and kind = $2 and id <> $3 and revoked_at is null
              and retires_at is null limit 1`,
    values: [tenant, key.kind, key.id],
  });
  return rows.length > 0;
}

/**
 * The ceiling of the newest backend key that works, or else of the newest one. `undefined`: the tenant never had one.
 */
export async function findNewestCeiling(tx: Tx, tenant: TenantId): Promise<KeyCeiling | undefined> {
  const { rows } = await tx.query<KeyCeiling>({
    name: 'find-newest-ceiling',
    text: `select ${CEILING_COLUMNS} from api_keys where tenant_id = $1 and kind = 'backend'
            order by (${IS_WORKING}) desc, created_at desc, id limit 1`,
    values: [tenant],
  });
  return rows[0];
}

/** The ceiling of a key, and the tenant that the key belongs to. */
export interface OwnedCeiling extends KeyCeiling {
  readonly tenant: TenantId;
}

/** Locks the key, so that the second of two concurrent changes sees the result of the first. */
export async function lockCeiling(tx: Tx, id: string): Promise<OwnedCeiling | undefined> {
  await lockReferenceTables(tx);
  const { rows } = await tx.query<OwnedCeiling>({
    name: 'lock-ceiling',
    text: `select tenant_id as tenant, ${CEILING_COLUMNS} from api_keys where id = $1 for no key update`,
    values: [id],
  });
  return rows[0];
}

export async function updateCeiling(
  tx: Tx,
  id: string,
  { capabilities, roles, rooms, rank, lifetimeSeconds }: KeyCeiling,
): Promise<void> {
  await tx.query({
    name: 'update-ceiling',
    text: `update api_keys set ceiling_capabilities = $2, ceiling_roles = $3, ceiling_rooms = $4, ceiling_rank = $5,
                               ceiling_lifetime_seconds = $6
            where id = $1`,
    values: [id, capabilities, roles, rooms, rank, lifetimeSeconds],
  });
}
