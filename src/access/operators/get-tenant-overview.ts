/** Everything about one tenant, but no secret, for operators. */
import type { Db } from '../../base/db/pool.ts';
import { getLimits, getTenant } from '../../base/tenants/get-tenant.ts';
import { admits, type TenantId } from '../../base/tenants/tenant.ts';
import {
  findAccountOverview,
  listLimitChanges,
  listStatusChanges,
} from '../../money/overview/overview.sql.ts';
import { findPaymentSettings } from '../../money/payments/payments.sql.ts';
import { findKeys } from '../keys/keys.sql.ts';

export type TenantOverview = Awaited<ReturnType<typeof getTenantOverview>>;

/** Changes are in the order in which they were made. Fails with `not_found`. */
export async function getTenantOverview(db: Db, id: TenantId) {
  const tenant = await getTenant(db, id);
  const account = await findAccountOverview(db, id);
  return {
    tenant,
    account,
    admitted: admits(tenant, account.balance),
    settings: await findPaymentSettings(db, id),
    keys: await findKeys(db, id),
    statusChanges: await listStatusChanges(db, id),
    limited: await getLimits(db, tenant),
    limitChanges: await listLimitChanges(db, id),
  };
}
