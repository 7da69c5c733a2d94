/** The budgets of a tenant, as they are now. */
import { findNow } from '../../base/db/find-now.sql.ts';
import type { Db } from '../../base/db/pool.ts';
import { notFound } from '../../base/failure.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import { atTime, type Budget } from './budget.ts';
import { findBudget, listBudgetPage, listBudgets } from './budgets.sql.ts';

/** In the order of their ids. */
export async function getBudgets(db: Db, tenant: TenantId): Promise<Budget[]> {
  const now = await findNow(db);
  return (await listBudgets(db, tenant)).map((each) => atTime(each, now));
}

/** A page of them, after the id `after` (empty: from the first one). `end`: the last id, if there are more. */
export async function getBudgetPage(
  db: Db,
  tenant: TenantId,
  { after, size }: { readonly after: string; readonly size: number },
): Promise<{ readonly budgets: readonly Budget[]; readonly end: string | undefined }> {
  const now = await findNow(db);
  const found = await listBudgetPage(db, tenant, after, size + 1);
  const budgets = found.slice(0, size).map((each) => atTime(each, now));
  return { budgets, end: found.length > size ? budgets.at(-1)?.id : undefined };
}

/** Fails with `not_found`. */
export async function getBudget(db: Db, tenant: TenantId, id: string): Promise<Budget> {
  const budget = await findBudget(db, tenant, id);
  if (!budget) throw notFound('budget');
  return atTime(budget, await findNow(db));
}
