/** Budgets, and what is left of them, as both consoles show them. */
import { type Html, html } from '@boxoffice/pages/html';
import { type Budget, beyondOf, freeOf } from '../../control/budgets/budget.ts';
import type { Period } from '../../control/budgets/period.ts';
import { badge, exact, named } from './components.ts';
import { table } from './table.ts';

export const PERIOD_TEXTS: Readonly<Record<Period, string>> = {
  day: 'a day',
  month: 'a month',
  total: 'in all',
};

/** `actionsOf`: the buttons of a budget, for people who may change budgets. */
export function budgetsTable(budgets: readonly Budget[], actionsOf?: (budget: Budget) => Html): Html {
  return table(
    'Budgets',
    ['Budget', 'Covers', 'Limit', 'Tells at', 'Spent', 'Held', 'Free', actionsOf !== undefined && 'Change'],
    budgets.map((each) => [
      html`<span>${named(each.id)} ${badge(each.hard ? 'hard' : 'soft')}</span>`,
      describeScope(each),
      `${exact(each.max)} ${PERIOD_TEXTS[each.period]}`,
      each.shares.length > 0 ? `${each.shares.join(', ')} %` : '–',
      html`<span>${exact(each.spent)} ${beyondOf(each) > 0n && badge(`${exact(beyondOf(each))} beyond`, 'bad')}</span>`,
      exact(each.held),
      html`<span>${exact(freeOf(each))} ${each.hard && freeOf(each) === 0n && badge('reached', 'bad')}</span>`,
      actionsOf?.(each),
    ]),
    { names: 'Budget' },
  );
}

function describeScope({ keyId, room, customer }: Budget): Html | string {
  if (keyId === null && room === null && customer === null) return 'everything';
  return html`<span>${keyId !== null && html`key ${named(keyId)} `}${room !== null && html`rooms ${named(room)} `}${
    customer !== null && html`customer ${named(customer)}`
  }</span>`;
}
