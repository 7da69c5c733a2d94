/** Granted credit, as both consoles show it. */
import { type Html, type HtmlValue, html } from '@boxoffice/pages/html';
import { type GrantNow, type GrantState, spentOf } from '../../money/grants/grant.ts';
import { badge, exact, named, timeOf } from './components.ts';
import { table } from './table.ts';

const LOOKS = { active: 'good', spent: '', expired: 'warn', voided: 'warn' } as const satisfies Record<
  GrantState,
  string
>;

export function grantsTable(grants: readonly GrantNow[]): Html {
  return table(
    'Grants, the newest first',
    ['Granted', 'For', 'State', 'Amount', 'Spent', 'Left', 'Expires', 'Id'],
    grants.map(cellsOf),
    { numbers: ['Amount', 'Spent', 'Left'], names: 'For' },
  );
}

function cellsOf(grant: GrantNow): HtmlValue[] {
  const { id, reason, state, amount, left, forfeited, grantedAt, expiresAt } = grant;
  return [
    timeOf(grantedAt),
    named(reason),
    html`${badge(state, LOOKS[state])}${forfeited > 0n && html` <span class="hint">${exact(forfeited)} left the balance</span>`}`,
    exact(amount),
    exact(spentOf(grant)),
    exact(left),
    expiresAt === null ? 'never' : timeOf(expiresAt),
    html`<code>${id}</code>`,
  ];
}
