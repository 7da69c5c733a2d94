/** Read the newest erasures of a tenant. They never show a name. */
import type { Db } from '../../base/db/pool.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import type { Erasure } from './erasure.ts';
import { findErasures } from './erasures.sql.ts';

export function listErasures(db: Db, tenant: TenantId, limit: number): Promise<Erasure[]> {
  return findErasures(db, tenant, limit);
}
