/** The thresholds of a tenant, and which of them are raised. */
import type { Db } from '../../base/db/pool.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import type { SetThreshold } from './alert-threshold.ts';
import { listThresholds } from './alert-thresholds.sql.ts';

/** Those of credit first, the largest first. */
export function getAlerts(db: Db, tenant: TenantId): Promise<SetThreshold[]> {
  return listThresholds(db, tenant);
}
