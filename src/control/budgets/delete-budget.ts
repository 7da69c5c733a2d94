/** Delete a budget. Holds that are open end with their tokens, and other budgets keep them. */
import type { Actor } from '../../base/audit/actor.ts';
import { appendAudit } from '../../base/audit/append-audit.sql.ts';
import type { Tx } from '../../base/db/pool.ts';
import { notFound } from '../../base/failure.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import { lockTenant } from '../../base/tenants/tenants.sql.ts';
import { countBudgets, deleteBudgetRow, findBudget, markBudgets } from './budgets.sql.ts';
import { auditedOf } from './put-budget.ts';

/** Fails with `not_found`. */
export async function deleteBudget(
  tx: Tx,
  { tenant, actor }: { readonly tenant: TenantId; readonly actor: Actor },
  id: string,
): Promise<void> {
  await lockTenant(tx, tenant);
  const budget = await findBudget(tx, tenant, id);
  if (!budget) throw notFound('budget');
  await deleteBudgetRow(tx, tenant, id);
  if ((await countBudgets(tx, tenant, 1)) === 0) await markBudgets(tx, tenant, false);
  await appendAudit(tx, tenant, actor, {
    action: 'budget_deleted',
    subject: id,
    before: auditedOf(budget),
    after: null,
  });
}
