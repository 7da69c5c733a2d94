/** Set the time zone in which the months of a tenant end, and its days. */
import type { Actor } from '../../base/audit/actor.ts';
import { appendAudit } from '../../base/audit/append-audit.sql.ts';
import { findNow } from '../../base/db/find-now.sql.ts';
import type { Tx } from '../../base/db/pool.ts';
import { type Failure, invalidField } from '../../base/failure.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import { lockTenant } from '../../base/tenants/tenants.sql.ts';
import { nextMonth } from '../month.ts';
import { type CurrentZone, getTimeZone } from './get-time-zone.ts';
import { parseTimeZone, UTC } from './time-zone.ts';
import { findCalendar, insertTimeZone, isZoneName } from './time-zones.sql.ts';

/** A change shortly before the end of a month is one in the next month: its commit may come later, and usage be added up before it. */
const GRACE_MINUTES = 15;

/** From the next month on. Fails with `invalid_request` for a name that Node.js or PostgreSQL does not know. */
export async function setTimeZone(
  tx: Tx,
  actor: Actor,
  tenant: TenantId,
  name: string,
): Promise<CurrentZone> {
  const wanted = parseTimeZone(name);
  if (!wanted) throw unknownName();
  await lockTenant(tx, tenant);
  const calendar = await findCalendar(tx, tenant);
  const before = calendar.newest?.zone ?? UTC;
  if (wanted !== before) {
    // Node.js ignores case.
    if (!(await isZoneName(tx, wanted))) throw unknownName();
    const now = await findNow(tx);
    const month = calendar.monthOf(new Date(now.getTime() + GRACE_MINUTES * 60_000));
    await insertTimeZone(tx, tenant, wanted, nextMonth(month));
    await appendAudit(tx, tenant, actor, {
      action: 'time_zone_changed',
      subject: null,
      before: { time_zone: before },
      after: { time_zone: wanted },
    });
  }
  return getTimeZone(tx, tenant);
}

function unknownName(): Failure {
  return invalidField('time_zone', 'must be a name of the IANA time zone database, such as Europe/Berlin');
}
