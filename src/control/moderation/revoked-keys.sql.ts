/** SQL that finds revoked device credentials whose tokens keep a user in a room. */
import type { Db } from '../../base/db/pool.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import { LIVE_TOKENS } from '../rooms/participants.sql.ts';

/**
 * Device credentials that were revoked in the last `seconds`, of `limit` tenants at most. Each tenant's admissions are read once. The
 * statement has no name, and its numbers are no parameters, for the reason of `findBrokenBans()`. It is a join, because Citus has no
 * correlated subquery of a reference table.
 */
export async function findRevokedKeysInUse(
  db: Db,
  { seconds, limit }: { readonly seconds: number; readonly limit: number },
): Promise<{ readonly tenant: TenantId; readonly keys: readonly string[] }[]> {
  const { rows } = await db.query<{ tenant: TenantId; keys: string[] }>(
    `select a.tenant_id as tenant, array_agg(distinct a.key_id) as keys
       from (select tenant_id, array_agg(id) as keys from device_credentials
              where revoked_at > now() - interval '${seconds} seconds'
              group by tenant_id) c
       join (${LIVE_TOKENS}) on a.tenant_id = c.tenant_id and a.key_id = any(c.keys)
      group by a.tenant_id limit ${limit}`,
  );
  return rows;
}
