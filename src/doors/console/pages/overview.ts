/** `/console`: the state of the account at a glance. */
import { type Html, html } from '@boxoffice/pages/html';
import { mayDo } from '../../../access/members/member.ts';
import type { LedgerEntry } from '../../../money/ledger/posting.ts';
import { monthOf, startOf } from '../../../money/month.ts';
import { summarizeUsage } from '../../../money/usage/summarize-usage.ts';
import { badge, dollars, emptyState, exact, named, scrolling, timeOf } from '../components.ts';
import { type Answer, page, type SessionCall } from '../route.ts';
import { KIND_NAMES } from './ledger.ts';
import { payForm } from './pay.ts';
import { findProgress, isStarted, renderSteps } from './start.ts';

const HOUR_MS = 3_600_000;
const RECENT_SHOWN = 8;

export async function showOverview(call: SessionCall): Promise<Answer> {
  const { deps, session } = call;
  const progress = await findProgress(call);
  const { billing } = progress;
  const now = new Date();
  const month = monthOf(now);
  const nextHour = new Date(Math.ceil((now.getTime() + 1) / HOUR_MS) * HOUR_MS);
  const period = { from: startOf(month), to: nextHour };
  const query = { groupBy: [], ...period, room: undefined, limit: 1, skip: 0 };
  const { total } = await summarizeUsage(deps.db, session.tenant, query);
  const { lastTopUpError } = billing.settings;
  const seesMoney = mayDo(session.role, 'see_money');
  const body = html`<h1>${named(billing.tenant.name)}</h1>
${
  seesMoney &&
  lastTopUpError !== null &&
  html`<p class="alert" role="alert"><strong>The last automatic top-up failed.</strong> ${lastTopUpError}</p>`
}
${!isStarted(progress) && html`<section class="card"><h2>Getting started</h2>${renderSteps(call, progress)}</section>`}
<div class="cards">
${
  seesMoney &&
  html`<section class="card"><h2 class="label">Balance</h2><p class="figure">${dollars(billing.balance)}</p>
<p class="hint">Exactly ${exact(billing.balance)}</p></section>
<section class="card"><h2 class="label">Spent in ${month}</h2><p class="figure">${dollars(total.amount)}</p>
<p class="hint">${total.records} usage records. <a href="/console/spend">By day and room</a></p></section>`
}
<section class="card"><h2 class="label">New sessions</h2><p class="figure">${
    billing.admitted ? badge('admitted', 'good') : badge('not admitted', 'bad')
  }</p><p class="hint">${
    billing.admitted
      ? 'Relays admit participants.'
      : billing.tenant.status === 'pending'
        ? 'Pay in credit to begin.'
        : 'Pay in credit to admit participants again.'
  }</p></section>
</div>
${seesMoney && html`<h2>Newest entries</h2>${renderRecent(billing.recent)}`}
${
  mayDo(session.role, 'pay') &&
  progress.hasPaid &&
  html`<section class="card"><h2>Pay in credit</h2>${payForm(deps, '20')}</section>`
}`;
  return page({ title: 'Overview', body });
}

function renderRecent(recent: readonly LedgerEntry[]): Html {
  if (recent.length === 0)
    return emptyState('The ledger is empty.', 'Its first entry is your first payment.');
  return html`${scrolling(
    'Newest entries',
    html`<table class="rows"><thead><tr><th scope="col">Time</th><th scope="col">Kind</th><th scope="col">Reference</th>
<th scope="col" class="number">Amount</th></tr></thead>
<tbody>${recent.slice(0, RECENT_SHOWN).map(
      ({ at, kind, reference, detail, amount }) => html`<tr><td data-label="Time">${timeOf(at)}</td>
<td data-label="Kind">${KIND_NAMES[kind]}</td><td data-label="Reference">${reference !== null && named(reference)}${
        detail !== undefined && detail !== null && html` <span class="hint">${named(detail)}</span>`
      }</td><td class="number" data-label="Amount">${exact(amount)}</td></tr>`,
    )}</tbody></table>`,
  )}<p><a href="/console/ledger">The whole ledger</a></p>`;
}
