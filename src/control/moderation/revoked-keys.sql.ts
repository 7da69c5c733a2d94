/** SQL that finds revoked device credentials whose tokens keep a user in a room. */
import type { Db } from '../../base/db/pool.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import { tokensOfKeys } from '../rooms/participants.sql.ts';

/**
 * Device credentials that were revoked in the last `seconds`, of `limit` tenants at most. Each tenant's admissions are read once. The
 * statement has no name, and its numbers are no parameters, for the reason of `findBrokenBans()`.
 */
export async function findRevokedKeysInUse(
  db: Db,
  { seconds, limit }: { readonly seconds: number; readonly limit: number },
): Promise<{ readonly tenant: TenantId; readonly keys: readonly string[] }[]> {
  const { rows } = await db.query<{ tenant: TenantId; keys: string[] }>(
    `select c.tenant_id as tenant, c.keys
       from (select tenant_id, array_agg(id) as keys from device_credentials
              where revoked_at > now() - interval '${seconds} seconds'
              group by tenant_id) c
      where exists (select ${tokensOfKeys('c.tenant_id', 'c.keys')})
      limit ${limit}`,
  );
  return rows;
}
