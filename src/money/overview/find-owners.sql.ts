/** Whose something is that an operator names by its id alone. Each statement looks into indexes, of all tenants. */
import type { Db } from '../../base/db/pool.ts';
import { isId } from '../../base/lib/ids.ts';
import { normalAddress } from '../../base/tenants/mail-address.ts';
import { onServers } from '../../base/tenants/shares.ts';
import { parseTenantId, type TenantId } from '../../base/tenants/tenant.ts';

/** What one server has alone, or every server a copy of. `$2`: the text as members have their addresses. */
const OWNERS = [
  'select tenant_id from api_keys where id = $1',
  'select tenant_id from device_credentials where id = $1',
  'select tenant_id from payments where id = $1',
  'select tenant_id from checkouts where id = $1',
  'select tenant_id from checkouts where session_id = $1',
  'select tenant_id from top_up_attempts where id = $1',
  // Each has an index.
  'select tenant_id from members where email = $2 and joined_at is not null',
  'select tenant_id from members where email = $2 and joined_at is null',
];

/** Tables of which each server has a part, by the first letters of their ids. */
const DISTRIBUTED = { wh: 'webhook_endpoints', se: 'sessions' } as const;

/** Mostly one tenant or none; a person may be a member of several. A tenant that is named by its own id may not exist. */
export async function findOwners(db: Db, text: string): Promise<TenantId[]> {
  const tenant = parseTenantId(text);
  if (tenant !== undefined) return [tenant];
  for (const [prefix, table] of Object.entries(DISTRIBUTED)) {
    if (isId(prefix, text)) return findOnServers(db, table, text);
  }
  const { rows } = await db.query<{ tenant: TenantId }>({
    name: 'find-owners',
    text: `select distinct tenant_id as tenant from (${OWNERS.join(' union all ')}) as owners`,
    values: [text, normalAddress(text)],
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
