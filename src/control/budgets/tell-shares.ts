/**
 * Tell of the shares of budgets that are spent.
 *
 * A share is told of once a period, and again after the limit was raised above it. A caller may raise and lower a limit as often as
 * it likes, so a budget and a tenant have limits of a day.
 */
import type { Tx } from '../../base/db/pool.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import { appendEvents } from '../../events/append-events.sql.ts';
import { ALERTS_OF_BUDGET_MAX, ALERTS_OF_TENANT_MAX, type Budget } from './budget.ts';
import { addTold, listToldToday } from './budget-alerts.sql.ts';
import { budgetAlert } from './budget-events.ts';

/** Shares of a budget that are spent and were not told of. Ascending. */
export interface Reached {
  readonly budget: Budget;
  readonly shares: readonly number[];
}

/** Append an event for each share, up to the limits of the day, the highest shares first. The others are never told of. */
export async function tellShares(tx: Tx, tenant: TenantId, reached: readonly Reached[]): Promise<void> {
  if (reached.every(({ shares }) => shares.length === 0)) return;
  const told = await listToldToday(tx, tenant);
  const tellings = withinLimits(reached, told);
  await addTold(tx, tenant, new Map(tellings.map(({ budget, shares }) => [budget.id, shares.length])));
  const events = tellings.flatMap(({ budget, shares }) => shares.map((share) => budgetAlert(budget, share)));
  await appendEvents(tx, tenant, events);
}

/** `told`: how many were told today, by the id of the budget. */
function withinLimits(reached: readonly Reached[], told: ReadonlyMap<string, number>): Reached[] {
  let left = ALERTS_OF_TENANT_MAX - [...told.values()].reduce((sum, count) => sum + count, 0);
  return reached.flatMap(({ budget, shares }) => {
    const most = Math.max(0, Math.min(left, ALERTS_OF_BUDGET_MAX - (told.get(budget.id) ?? 0)));
    const kept = shares.slice(Math.max(0, shares.length - most));
    left -= kept.length;
    return kept.length > 0 ? [{ budget, shares: kept }] : [];
  });
}
