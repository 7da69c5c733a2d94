/** Whose something is that an operator names by its id alone. Each statement looks into indexes, of all tenants. */

import { isDistributed } from '../../base/db/distribution.ts';
import type { Db } from '../../base/db/pool.ts';
import { isId } from '../../base/lib/ids.ts';
import { normalAddress } from '../../base/tenants/mail-address.ts';
import { onServers } from '../../base/tenants/shares.ts';
import { parseTenantId, type TenantId } from '../../base/tenants/tenant.ts';

/** What one server has alone, or every server a copy of. `$2`: the text as members have their addresses. */
const OWNERS = [
  'select tenant_id from api_keys where id = $1',
  'select tenant_id from device_credentials where id = $1',
  'select tenant_id from agent_keys where id = $1',
  'select tenant_id from payments where id = $1',
  'select tenant_id from checkouts where id = $1',
  'select tenant_id from checkouts where session_id = $1',
  'select tenant_id from top_up_attempts where id = $1',
  'select tenant_id from audit_entries where id = $1 and tenant_id is not null',
  ...['refunds', 'disputes', 'fraud_warnings'].map(
    (table) => `select p.tenant_id from ${table} r join payments p on p.id = r.payment_id where r.id = $1`,
  ),
  // Each has an index.
  'select tenant_id from members where email = $2 and joined_at is not null',
  'select tenant_id from members where email = $2 and joined_at is null',
];

/** Tables of which each server has a part, by the first letters of their ids. */
const DISTRIBUTED = { wh: 'webhook_endpoints', se: 'sessions' } as const;

/** Columns whose index begins with the tenant, by the first letters of the ids, and whether each server has a part of the table. */
const WITHIN_TENANTS = {
  m: { table: 'members', column: 'id', isShared: false },
  er: { table: 'erasures', column: 'id', isShared: false },
  gr: { table: 'grants', column: 'id', isShared: true },
  rm: { table: 'rooms', column: 'uid', isShared: true },
  ban: { table: 'bans', column: 'id', isShared: true },
  wd: { table: 'watchdogs', column: 'id', isShared: true },
} as const;

/** The id in an API key, a device credential or a key for agents, which may be cut off after it. Its prefix depends on the deployment. */
const IN_KEY = /^[A-Za-z0-9]+_([0-9a-f]{16})(?:_[A-Za-z0-9_-]*)?$/;

/** Mostly one tenant or none; a person may be a member of several. A tenant that is named by its own id may not exist. */
export async function findOwners(db: Db, text: string): Promise<TenantId[]> {
  const tenant = parseTenantId(text);
  if (tenant !== undefined) return [tenant];
  for (const [prefix, table] of Object.entries(DISTRIBUTED)) {
    if (isId(prefix, text)) return findOnServers(db, table, text);
  }
  for (const [prefix, where] of Object.entries(WITHIN_TENANTS)) {
    if (isId(prefix, text)) return findWithinTenants(db, where, text);
  }
  const { rows } = await db.query<{ tenant: TenantId }>({
    name: 'find-owners',
    text: `select distinct tenant_id as tenant from (${OWNERS.join(' union all ')}) as owners`,
    values: [IN_KEY.exec(text)?.[1] ?? text, normalAddress(text)],
  });
  return rows.map(({ tenant }) => tenant);
}

async function findOnServers(db: Db, table: string, id: string): Promise<TenantId[]> {
  const rows = await onServers<{ tenant: TenantId }>(db, {
    name: `find-owner-in-${table}`,
    text: (tenants) =>
      `select tenant_id as tenant from ${table} where id = $1 ${tenants.and('tenant_id', 2)}`,
    values: [id],
  });
  return rows.map(({ tenant }) => tenant);
}

/** Looks into the index once for each tenant, a few microseconds each. One that begins with the id would cost each write of the table. */
async function findWithinTenants(
  db: Db,
  { table, column, isShared }: (typeof WITHIN_TENANTS)[keyof typeof WITHIN_TENANTS],
  id: string,
): Promise<TenantId[]> {
  const ofEach = isShared && isDistributed() ? '' : 'and tenant_id = any(array(select id from tenants))';
  const rows = await onServers<{ tenant: TenantId }>(db, {
    name: `find-owner-within-${table}`,
    text: (tenants) =>
      `select tenant_id as tenant from ${table} where ${column} = $1 ${ofEach} ${tenants.and('tenant_id', 2)}`,
    values: [id],
  });
  return rows.map(({ tenant }) => tenant);
}
