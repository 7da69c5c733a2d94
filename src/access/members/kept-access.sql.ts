/** SQL of `kept_access`, and of everything else by which a tenant can be used or watched. */
import type { Db, Tx } from '../../base/db/pool.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import { IS_WORKING, IS_WORKING_AGENT_KEY, NOT_EXPIRED } from '../rights/working-key.sql.ts';
import type { AccessKind, NamedAccess } from './other-access.ts';

/** Whether there is more in the tenant than this member: keys, credentials, other members, webhooks, automatic top-up. */
export async function hasOtherAccess(tx: Tx, tenant: TenantId, member: string): Promise<boolean> {
  const { rows } = await tx.query({
    name: 'has-other-access',
    text: `select where exists (select from api_keys where tenant_id = $1 and ${IS_WORKING})
                     or exists (select from device_credentials where tenant_id = $1 and ${IS_WORKING})
                     or exists (select from agent_keys where tenant_id = $1 and ${IS_WORKING_AGENT_KEY})
                     or exists (select from members where tenant_id = $1 and id <> $2)`,
    values: [tenant, member],
  });
  if (rows.length > 0) return true;
  // Where tables are distributed, these are elsewhere.
  const others = await tx.query({
    name: 'has-webhook-or-top-up',
    text: `select from payment_settings s
            where s.tenant_id = $1
              and (s.top_up_enabled or exists (select from webhook_endpoints w where w.tenant_id = $1))`,
    values: [tenant],
  });
  return others.rows.length > 0;
}

export async function insertKept(tx: Tx, tenant: TenantId, kind: AccessKind, id: string): Promise<void> {
  await tx.query({
    name: 'insert-kept-access',
    text: 'insert into kept_access (tenant_id, kind, id) values ($1, $2, $3) on conflict do nothing',
    values: [tenant, kind === 'agent' ? 'key' : kind, id],
  });
}

/** The ids of this kind that were kept. */
export async function findKept(
  db: Db,
  tenant: TenantId,
  kind: 'member' | 'webhook',
): Promise<ReadonlySet<string>> {
  const { rows } = await db.query<{ id: string }>({
    name: 'find-kept-access',
    text: 'select id from kept_access where tenant_id = $1 and kind = $2',
    values: [tenant, kind],
  });
  return new Set(rows.map(({ id }) => id));
}

/** For each kind: the table, which of its rows work, and the kind in `kept_access`. Keys for agents have ids as API keys have, and share their kind. */
const KEPT_APART = {
  key: ['api_keys', IS_WORKING, 'key'],
  device: ['device_credentials', `${IS_WORKING} and ${NOT_EXPIRED}`, 'device'],
  agent: ['agent_keys', IS_WORKING_AGENT_KEY, 'key'],
} as const;

/** Up to `limit` that work and were not kept, the oldest first. */
export async function findUnkept(
  db: Db,
  tenant: TenantId,
  kind: keyof typeof KEPT_APART,
  limit: number,
): Promise<NamedAccess[]> {
  const [table, isWorking, keptAs] = KEPT_APART[kind];
  const { rows } = await db.query<NamedAccess>({
    name: `find-unkept-${kind}`,
    text: `select id, name, created_at as "createdAt" from ${table} a
            where tenant_id = $1 and ${isWorking}
              and not exists (select from kept_access k
                               where k.tenant_id = $1 and k.kind = '${keptAs}' and k.id = a.id)
            order by created_at, id limit $2`,
    values: [tenant, limit],
  });
  return rows;
}
