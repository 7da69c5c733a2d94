/** Name, address and tax id of a tenant, as they are now. */
import type { Db } from '../../base/db/pool.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import { findNewestDetails } from './billing-details.sql.ts';
import type { BillingDetails } from './billing-details.ts';

export async function getBillingDetails(db: Db, tenant: TenantId): Promise<BillingDetails> {
  return (await findNewestDetails(db, tenant)).details;
}
