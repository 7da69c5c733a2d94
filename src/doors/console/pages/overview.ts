/** `/console`: the state of the account at a glance. */
import { type Html, html } from '@boxoffice/pages/html';
import { mayDo } from '../../../access/rights/abilities.ts';
import type { SetThreshold } from '../../../money/alerts/alert-threshold.ts';
import { getAlerts } from '../../../money/alerts/get-alerts.ts';
import { type Calendar, daysLater } from '../../../money/calendar/calendar.ts';
import { getCalendar } from '../../../money/calendar/get-calendar.ts';
import type { LedgerEntry } from '../../../money/ledger/posting.ts';
import { summarizeUsage } from '../../../money/usage/summarize-usage.ts';
import { type Answer, page } from '../../consoles/answer.ts';
import { describeThreshold, emptyState, exact, named, timeOf } from '../../consoles/components.ts';
import { KIND_NAMES, renderFor } from '../../consoles/ledger-list.ts';
import { table } from '../../consoles/table.ts';
import type { SessionCall } from '../route.ts';
import { renderSmallChart } from './chart.ts';
import { renderNextSteps } from './next-steps.ts';
import { renderCards } from './overview-cards.ts';
import { payForm } from './pay.ts';
import { findProgress, isStarted, renderSteps } from './start.ts';

const DAYS_SHOWN = 30;
const RECENT_SHOWN = 6;

export async function showOverview(call: SessionCall): Promise<Answer> {
  const { deps, session } = call;
  const progress = await findProgress(call);
  const { billing } = progress;
  const { lastTopUpError } = billing.settings;
  const seesMoney = mayDo(session.role, 'see_money');
  const thresholds = await getAlerts(deps.db, session.tenant);
  const calendar = await getCalendar(deps.db, session.tenant);
  const body = html`<h1>${named(billing.tenant.name)}</h1>
${
  seesMoney &&
  lastTopUpError !== null &&
  html`<p class="alert" role="alert"><strong>The last automatic top-up failed.</strong> ${lastTopUpError}</p>`
}
${seesMoney && renderRaised(thresholds)}
${isStarted(progress) && progress.onTheirWay}
${!isStarted(progress) && html`<section class="card"><h2>Getting started</h2>${renderSteps(call, progress)}</section>`}
${isStarted(progress) && (await renderNextSteps(call, billing.settings, thresholds.length))}
${await renderCards(call, { progress, thresholds, calendar })}
<p class="hint" role="status" id="feed-state" data-events="/console/overview/events" data-what="figures">Reload the page to see newer figures.</p>
${seesMoney && isStarted(progress) && (await renderSpend(call, calendar))}
${seesMoney && html`<h2>Newest entries</h2>${renderRecent(billing.recent)}`}
${
  mayDo(session.role, 'pay') &&
  progress.hasPaid &&
  html`<section class="card"><h2>Pay in credit</h2>${payForm(deps, '20')}</section>`
}`;
  return page({ title: 'Overview', body });
}

/** Spend of the last days, one bar for each. */
async function renderSpend({ deps, session }: SessionCall, calendar: Calendar): Promise<Html> {
  const next = daysLater(calendar.dayOf(new Date()), 1);
  const bars = Array.from({ length: DAYS_SHOWN }, (_, at) => daysLater(next, at - DAYS_SHOWN));
  const [from, to] = [calendar.startOfDay(bars[0]!), calendar.startOfDay(next)];
  const query = { groupBy: ['day'], from, to, rooms: undefined, limit: DAYS_SHOWN, skip: 0 } as const;
  const { rows } = await summarizeUsage(deps.db, session.tenant, query);
  const byDay = new Map(rows.map(({ time, amount }) => [calendar.dayOf(time!), amount]));
  const amounts = bars.map((day) => byDay.get(day) ?? 0n);
  return html`<h2>Spend by day</h2>
${renderSmallChart({ label: `Spend of the last ${DAYS_SHOWN} days. The page of spend has the numbers.`, bars, amounts })}`;
}

function renderRaised(thresholds: readonly SetThreshold[]): Html[] {
  return thresholds.flatMap((each) =>
    each.raisedAt
      ? [
          html`<p class="alert"><strong>Less than ${describeThreshold(each)} is left</strong> since ${timeOf(each.raisedAt)}.
<a href="/console/alerts">Alerts</a></p>`,
        ]
      : [],
  );
}

function renderWhat(kind: LedgerEntry['kind'], reference: string | null, detail: string | null): Html {
  const what = renderFor(kind, reference, '/console/payments');
  if (detail === null) return html`${what}`;
  return what ? html`${what} <span class="hint">${named(detail)}</span>` : named(detail);
}

function renderRecent(recent: readonly LedgerEntry[]): Html {
  if (recent.length === 0)
    return emptyState('The ledger is empty.', 'Its first entry is your first payment.');
  return html`${table(
    'Newest entries',
    ['Time', 'Kind', 'For', 'Amount'],
    recent
      .slice(0, RECENT_SHOWN)
      .map(({ at, kind, reference, detail, amount }) => [
        timeOf(at),
        KIND_NAMES[kind],
        html`<span>${renderWhat(kind, reference, detail ?? null)}</span>`,
        exact(amount),
      ]),
    { numbers: ['Amount'] },
  )}<p><a href="/console/ledger">The whole ledger</a></p>`;
}
