/** The days and months of a tenant. */
import type { Db } from '../../base/db/pool.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import type { Calendar } from './calendar.ts';
import { findCalendar } from './time-zones.sql.ts';

export function getCalendar(db: Db, tenant: TenantId): Promise<Calendar> {
  return findCalendar(db, tenant);
}
