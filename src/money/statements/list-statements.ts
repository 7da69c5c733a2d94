/** The months of a tenant whose statements say more than that nothing happened. */
import type { Db } from '../../base/db/pool.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import { type Month, monthOf } from '../month.ts';
import { findMonths } from './statement.sql.ts';

/** Balances are in micros. */
export interface ListedStatement {
  readonly month: Month;
  readonly opening: bigint;
  readonly closing: bigint;
}

/** The newest first. Months without postings, and those whose statements are not there yet, are left out. */
export async function listStatements(db: Db, tenant: TenantId): Promise<ListedStatement[]> {
  const months = await findMonths(db, tenant);
  return months.map(({ start, balance }, at) => ({
    month: monthOf(start),
    // Nothing moved the balance in months that are left out.
    opening: months[at + 1]?.balance ?? 0n,
    closing: balance,
  }));
}
