/** SQL that decides whether an API key or a device credential works, by the clock of the database: all processes share it. */
import type { Tx } from '../../base/db/pool.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';

/** `KeyLife`. A key past `retires_at` counts as revoked from that instant, even if `revoked_at` is null. */
export const LIFE_COLUMNS = `created_at as "createdAt",
  case when revoked_at is null and retires_at > now() then retires_at end as "retiresAt",
  least(revoked_at, case when retires_at <= now() then retires_at end) as "revokedAt"`;

/** A device credential may also have an end of its own. */
export const NOT_EXPIRED = '(expires_at is null or expires_at > now())';

export const IS_WORKING = 'revoked_at is null and (retires_at is null or retires_at > now())';

/** That of a key for agents: each has an end, and none is rotated. */
export const IS_WORKING_AGENT_KEY = 'revoked_at is null and expires_at > now()';

/** Read anew, for a transaction that holds the lock of the tenant. */
export async function isWorkingKey(tx: Tx, tenant: TenantId, id: string): Promise<boolean> {
  const { rows } = await tx.query({
    name: 'is-working-key',
    text: `select from api_keys where tenant_id = $1 and id = $2 and ${IS_WORKING}`,
    values: [tenant, id],
  });
  return rows.length > 0;
}
