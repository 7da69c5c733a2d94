/** Tell tenants that the statement of a month is ready. */
import { findNow } from '../../base/db/find-now.sql.ts';
import type { Tx } from '../../base/db/pool.ts';
import { inTransaction } from '../../base/db/transaction.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import { appendEvents } from '../../events/append-events.sql.ts';
import type { EventDeps } from '../../events/event-deps.ts';
import { listAccountsAfter } from '../accounts/accounts.sql.ts';
import { type Calendar, IN_UTC } from '../calendar/calendar.ts';
import { findCalendars, keepMonthEnd, listZonedAfter } from '../calendar/time-zones.sql.ts';
import { findPostedBalances } from '../ledger/posted-balance.sql.ts';
import { type Month, previousMonth } from '../month.ts';
import { READY_MINUTES } from './statement.ts';
import { statementReady } from './statement-events.ts';
import { takeUntold } from './statement-notices.sql.ts';

const AT_ONCE = 100;

const QUARTER_MS = 900_000;

/**
 * A job that looks through all tenants once for each month, and through those with a time zone once in each quarter-hour. It tells
 * those whose balance moved in the month that is over. Any number of processes may do it at once, and be killed.
 */
export function tellingStatements(deps: EventDeps, clock = findNow): () => Promise<void> {
  let told: Month | undefined;
  let toldZonedAt = 0;
  return async () => {
    const now = await clock(deps.db);
    const month = newestReady(IN_UTC, now);
    const quarter = Math.floor(now.getTime() / QUARTER_MS);
    if (month !== told) await tellStatements(deps, listAccountsAfter, now);
    else if (quarter !== toldZonedAt) await tellStatements(deps, listZonedAfter, now);
    [told, toldZonedAt] = [month, quarter];
  };
}

function newestReady(calendar: Calendar, now: Date): Month {
  return previousMonth(calendar.monthOf(new Date(now.getTime() - READY_MINUTES * 60_000)));
}

async function tellStatements(
  { db, events }: EventDeps,
  listAfter: typeof listAccountsAfter,
  now: Date,
): Promise<void> {
  let after: TenantId | null = null;
  for (;;) {
    const tenants: readonly TenantId[] = await listAfter(db, after, AT_ONCE);
    if (tenants.length === 0) return;
    const told = await inTransaction(db, (tx) => tellSome(tx, tenants, now));
    for (const tenant of told) events.wake(tenant);
    after = tenants.at(-1)!;
  }
}

/** Returns the tenants that have an event: those whose balance moved. */
async function tellSome(tx: Tx, tenants: readonly TenantId[], now: Date): Promise<TenantId[]> {
  const calendars = await findCalendars(tx, tenants);
  const calendarOf = (tenant: TenantId) => calendars.get(tenant) ?? IN_UTC;
  const told: TenantId[] = [];
  for (const [month, of] of Map.groupBy(tenants, (tenant) => newestReady(calendarOf(tenant), now))) {
    for (const tenant of await takeUntold(tx, of, month)) {
      const [start, end] = [calendarOf(tenant).startOf(month), calendarOf(tenant).endOf(month)];
      if (calendars.has(tenant)) await keepMonthEnd(tx, tenant, month, end);
      const [opening, closing] = await findPostedBalances(tx, tenant, [start, end]);
      if (opening.seq === closing.seq) continue;
      const balances = { opening: `${opening.balance}`, closing: `${closing.balance}` };
      await appendEvents(tx, tenant, [statementReady({ month, ...balances })]);
      told.push(tenant);
    }
  }
  return told;
}
