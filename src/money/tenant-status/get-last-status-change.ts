/** Since when a tenant has its status, and what its people are told about it. */
import type { Db } from '../../base/db/pool.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import { findLastStatusChange } from '../../base/tenants/tenants.sql.ts';

/** `undefined`: since it was created. `told` is `null` if nothing was. */
export async function getLastStatusChange(
  { db }: { readonly db: Db },
  tenant: TenantId,
): Promise<{ readonly at: Date; readonly told: string | null } | undefined> {
  return findLastStatusChange(db, tenant);
}
