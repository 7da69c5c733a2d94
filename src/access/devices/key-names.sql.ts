/** SQL that reads the names of API keys and device credentials. */
import type { Db } from '../../base/db/pool.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';

/** By id; also of those that are revoked. */
export async function findKeyNames(
  db: Db,
  tenant: TenantId,
  ids: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const { rows } = await db.query<{ id: string; name: string }>({
    name: 'find-key-names',
    text: `select id, name from api_keys where tenant_id = $1 and id = any($2)
           union all select id, name from device_credentials where tenant_id = $1 and id = any($2)`,
    values: [tenant, ids],
  });
  return new Map(rows.map(({ id, name }) => [id, name]));
}
