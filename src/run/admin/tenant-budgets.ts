/** The budgets of a tenant, as `tenants show` has them. */
import { type Budget, freeOf } from '../../control/budgets/budget.ts';
import { displayMicros, renderAmount } from '../../money/amount.ts';
import { printTable } from './output.ts';

export function budgetJson(budget: Budget) {
  const { id, keyId, room, customer, period, hard, max, spent, held } = budget;
  return {
    ...{ id, key: keyId, room, customer, period, hard },
    limit: renderAmount(max),
    spent: renderAmount(spent),
    held: renderAmount(held),
    free: renderAmount(freeOf(budget)),
  };
}

export function printBudgets(budgets: readonly Budget[]): void {
  printTable(
    ['budget', 'kind', 'period', 'key', 'room', 'customer', 'limit', 'spent', 'held', 'free'],
    budgets.map((each) => [
      each.id,
      each.hard ? 'hard' : 'soft',
      each.period,
      each.keyId,
      each.room,
      each.customer,
      ...[each.max, each.spent, each.held, freeOf(each)].map(displayMicros),
    ]),
    { right: ['limit', 'spent', 'held', 'free'] },
  );
}
