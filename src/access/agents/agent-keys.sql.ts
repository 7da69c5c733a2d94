/** SQL of `agent_keys`. */
import type { Db, Tx } from '../../base/db/pool.ts';
import type { LimitOverrides } from '../../base/tenants/limits.ts';
import type { TenantId, TenantStatus } from '../../base/tenants/tenant.ts';
import { isKeyId, type NewKey } from '../keys/api-key.ts';
import { IS_WORKING_AGENT_KEY } from '../rights/working-key.sql.ts';
import type { AgentKey, AgentRole, ListedAgentKey, NewAgentKey } from './agent-key.ts';
import { IS_COUNTED } from './confirmations.sql.ts';

const COLUMNS = `id, name, role, writes_per_day as "writesPerDay", created_at as "createdAt", expires_at as "expiresAt",
  revoked_at as "revokedAt"`;

export interface AgentKeyInUse {
  readonly tenant: TenantId;
  readonly id: string;
  readonly hash: Buffer;
  readonly role: AgentRole;
  readonly writesPerDay: number;
  readonly status: TenantStatus;
  readonly limits: LimitOverrides | null;
  /** False: it was revoked, or has expired. */
  readonly isWorking: boolean;
}

/** The keys with these ids, by id, also those that work no longer. */
export async function findAgentKeysById(
  db: Db,
  ids: readonly string[],
): Promise<ReadonlyMap<string, AgentKeyInUse>> {
  const { rows } = await db.query<AgentKeyInUse>({
    name: 'find-agent-keys-by-id',
    text: `select k.tenant_id as tenant, k.id, k.hash, k.role, k.writes_per_day as "writesPerDay", t.status, t.limits,
                  (${IS_WORKING_AGENT_KEY}) as "isWorking"
             from agent_keys k join tenants t on t.id = k.tenant_id where k.id = any($1)`,
    values: [ids],
  });
  return new Map(rows.map((key) => [key.id, key]));
}

export async function insertAgentKey(
  tx: Tx,
  tenant: TenantId,
  { id, hash, name, role, writesPerDay, days }: NewKey & NewAgentKey,
): Promise<AgentKey> {
  const { rows } = await tx.query<AgentKey>({
    name: 'insert-agent-key',
    text: `insert into agent_keys (tenant_id, id, name, hash, role, writes_per_day, expires_at)
           values ($1, $2, $3, $4, $5, $6, now() + make_interval(days => $7)) returning ${COLUMNS}`,
    values: [tenant, id, name, hash, role, writesPerDay, days],
  });
  return rows[0]!;
}

/** How many keys of a tenant work. */
export async function countAgentKeys(tx: Tx, tenant: TenantId): Promise<number> {
  const { rows } = await tx.query<{ count: number }>({
    name: 'count-agent-keys',
    text: `select count(*)::integer as count from agent_keys where tenant_id = $1 and ${IS_WORKING_AGENT_KEY}`,
    values: [tenant],
  });
  return rows[0]!.count;
}

/** Up to `limit`: those that work, and then the newest. */
export async function findAgentKeys(db: Db, tenant: TenantId, limit: number): Promise<ListedAgentKey[]> {
  const { rows } = await db.query<ListedAgentKey>({
    name: 'find-agent-keys',
    text: `select ${COLUMNS}, expires_at <= now() as "isExpired",
                  (select count(*)::integer from agent_confirmations c
                    where c.tenant_id = $1 and c.key_id = k.id and ${IS_COUNTED}) as "writesUsed"
             from agent_keys k where tenant_id = $1
            order by ${IS_WORKING_AGENT_KEY} desc, created_at desc, id limit $2`,
    values: [tenant, limit],
  });
  return rows;
}

/** By id; also of those that work no longer. */
export async function findAgentKeyNames(
  db: Db,
  tenant: TenantId,
  ids: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const { rows } = await db.query<{ id: string; name: string }>({
    name: 'find-agent-key-names',
    text: 'select id, name from agent_keys where tenant_id = $1 and id = any($2)',
    values: [tenant, ids],
  });
  return new Map(rows.map(({ id, name }) => [id, name]));
}

/** Until the transaction ends, its writes and its revocation take turns. */
export async function lockAgentKey(
  tx: Tx,
  tenant: TenantId,
  id: string,
): Promise<(AgentKey & { readonly isWorking: boolean }) | undefined> {
  // PostgreSQL rejects text that contains NUL.
  if (!isKeyId(id)) return undefined;
  const { rows } = await tx.query<AgentKey & { isWorking: boolean }>({
    name: 'lock-agent-key',
    text: `select ${COLUMNS}, (${IS_WORKING_AGENT_KEY}) as "isWorking" from agent_keys
            where tenant_id = $1 and id = $2 for no key update`,
    values: [tenant, id],
  });
  return rows[0];
}

/** Returns when. */
export async function markAgentKeyRevoked(tx: Tx, tenant: TenantId, id: string): Promise<Date> {
  const { rows } = await tx.query<{ revokedAt: Date }>({
    name: 'mark-agent-key-revoked',
    text: `update agent_keys set revoked_at = now() where tenant_id = $1 and id = $2
           returning revoked_at as "revokedAt"`,
    values: [tenant, id],
  });
  return rows[0]!.revokedAt;
}
