/** The budgets of a tenant, as they are now. */
import { findNow } from '../../base/db/find-now.sql.ts';
import type { Db } from '../../base/db/pool.ts';
import { notFound } from '../../base/failure.ts';
import { type Page, readPage } from '../../base/lib/page.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import { atTime, type Budget } from './budget.ts';
import { findBudget, listBudgetPage, listBudgets } from './budgets.sql.ts';

/** In the order of their ids. */
export async function getBudgets(db: Db, tenant: TenantId): Promise<Budget[]> {
  const now = await findNow(db);
  return (await listBudgets(db, tenant)).map((each) => atTime(each, now));
}

/** A page of them, after the id `after` (empty: from the first one). */
export async function getBudgetPage(
  db: Db,
  tenant: TenantId,
  { after, size }: { readonly after: string; readonly size: number },
): Promise<Page<Budget>> {
  const now = await findNow(db);
  const { items, end } = await readPage(size, (limit) => listBudgetPage(db, tenant, after, limit));
  return { items: items.map((each) => atTime(each, now)), end };
}

/** Fails with `not_found`. */
export async function getBudget(db: Db, tenant: TenantId, id: string): Promise<Budget> {
  const budget = await findBudget(db, tenant, id);
  if (!budget) throw notFound('budget');
  return atTime(budget, await findNow(db));
}
