/** The months of a tenant whose statements say more than that nothing happened. */
import { findNow } from '../../base/db/find-now.sql.ts';
import type { Db } from '../../base/db/pool.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import { findTenant } from '../../base/tenants/tenants.sql.ts';
import { findCalendar } from '../calendar/time-zones.sql.ts';
import { findPostedBalances } from '../ledger/posted-balance.sql.ts';
import type { Month } from '../month.ts';
import { readyAt } from './statement.ts';

/** Balances are in micros. */
export interface ListedStatement {
  readonly month: Month;
  readonly opening: bigint;
  readonly closing: bigint;
}

/** The newest first. Months without postings, and those whose statements are not there yet, are left out. */
export async function listStatements(db: Db, id: TenantId): Promise<ListedStatement[]> {
  const tenant = await findTenant(db, id);
  if (!tenant) return [];
  const calendar = await findCalendar(db, id);
  const now = await findNow(db);
  const months = calendar
    .monthsBetween(tenant.createdAt, now)
    .filter((month) => readyAt(calendar.endOf(month)) <= now);
  const ends = months.map((month) => calendar.endOf(month));
  const balances = [{ seq: 0n, balance: 0n }, ...(await findPostedBalances(db, id, ends))];
  return months
    .map((month, at) => ({ month, before: balances[at]!, after: balances[at + 1]! }))
    .filter(({ before, after }) => before.seq < after.seq)
    .map(({ month, before, after }) => ({ month, opening: before.balance, closing: after.balance }))
    .reverse();
}
