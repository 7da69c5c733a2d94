/** The time zone of a tenant, and the one that follows it. */
import { findNow } from '../../base/db/find-now.sql.ts';
import type { Db } from '../../base/db/pool.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import type { TimeZone } from './time-zone.ts';
import { findCalendar } from './time-zones.sql.ts';

export interface CurrentZone {
  /** That of this month. */
  readonly zone: TimeZone;
  /** What was set meanwhile, and when it begins; absent: nothing else. */
  readonly next?: { readonly zone: TimeZone; readonly from: Date };
}

export async function getTimeZone(db: Db, tenant: TenantId): Promise<CurrentZone> {
  const calendar = await findCalendar(db, tenant);
  const zone = calendar.zoneOf(calendar.monthOf(await findNow(db)));
  const { newest } = calendar;
  if (!newest || newest.zone === zone) return { zone };
  return { zone, next: { zone: newest.zone, from: calendar.startOf(newest.month) } };
}
