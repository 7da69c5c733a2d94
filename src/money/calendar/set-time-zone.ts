/** Set the time zone in which the months of a tenant end, and its days. */
import type { Actor } from '../../base/audit/actor.ts';
import { appendAudit } from '../../base/audit/append-audit.sql.ts';
import { findNow } from '../../base/db/find-now.sql.ts';
import type { Tx } from '../../base/db/pool.ts';
import { type Failure, invalidField } from '../../base/failure.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import { lockAccount } from '../accounts/accounts.sql.ts';
import { hasUsage } from '../ledger/ledger.sql.ts';
import { nextMonth } from '../month.ts';
import { type CurrentZone, getTimeZone } from './get-time-zone.ts';
import { findSpelling, parseTimeZone, UTC } from './time-zone.ts';
import { findCalendar, insertTimeZone, isZoneName } from './time-zones.sql.ts';

/** A change shortly before the end of a month is one in the next month: its commit may come later, and usage be added up before it. */
const GRACE_MINUTES = 15;

/** From the next month on; of a tenant without usage, from this month on. Fails with `invalid_request` for a name that Node.js or PostgreSQL does not know. */
export async function setTimeZone(
  tx: Tx,
  actor: Actor,
  tenant: TenantId,
  name: string,
): Promise<CurrentZone> {
  const wanted = parseTimeZone(name);
  if (!wanted) throw unknownName(name);
  // A charge locks it too, so the first one comes before the look at usage, or after the commit of the zone.
  await lockAccount(tx, tenant);
  const calendar = await findCalendar(tx, tenant);
  const before = calendar.newest?.zone ?? UTC;
  if (wanted !== before) {
    // Node.js ignores case.
    if (!(await isZoneName(tx, wanted))) throw unknownName(name);
    const now = await findNow(tx);
    const month = calendar.monthOf(new Date(now.getTime() + GRACE_MINUTES * 60_000));
    // Usage of this month is added up by the hour of the old zone, and none may be in two months.
    const first = (await hasUsage(tx, tenant)) ? nextMonth(month) : month;
    const last = calendar.newest?.month ?? first;
    await insertTimeZone(tx, tenant, wanted, first > last ? first : last);
    await appendAudit(tx, tenant, actor, {
      action: 'time_zone_changed',
      subject: null,
      before: { time_zone: before },
      after: { time_zone: wanted },
    });
  }
  return getTimeZone(tx, tenant);
}

function unknownName(name: string): Failure {
  const spelling = findSpelling(name);
  const example = spelling === undefined ? 'such as Europe/Berlin' : `which spells it ${spelling}`;
  return invalidField('time_zone', `must be a name of the IANA time zone database, ${example}`);
}
