/** `/console`: the state of the account at a glance. */
import { type Html, html } from '@boxoffice/pages/html';
import { mayDo } from '../../../access/rights/abilities.ts';
import type { SetThreshold } from '../../../money/alerts/alert-threshold.ts';
import { getAlerts } from '../../../money/alerts/get-alerts.ts';
import { type Calendar, daysLater } from '../../../money/calendar/calendar.ts';
import { getCalendar } from '../../../money/calendar/get-calendar.ts';
import { listGrants } from '../../../money/grants/list-grants.ts';
import type { LedgerEntry } from '../../../money/ledger/posting.ts';
import { describeTopUpError, type PaymentSettings } from '../../../money/payments/payment-settings.ts';
import { getBurns } from '../../../money/runway/get-runway.ts';
import { summarizeUsage } from '../../../money/usage/summarize-usage.ts';
import { type Answer, page } from '../../consoles/answer.ts';
import {
  badge,
  countOf,
  dollars,
  emptyState,
  exact,
  monthText,
  named,
  timeOf,
} from '../../consoles/components.ts';
import { table } from '../../consoles/table.ts';
import type { SessionCall } from '../route.ts';
import { describeThreshold } from './alerts.ts';
import { renderSmallChart } from './chart.ts';
import { KIND_NAMES, renderFor } from './ledger.ts';
import { renderNextSteps } from './next-steps.ts';
import { payForm } from './pay.ts';
import { burnCard, runwayCard } from './runway.ts';
import { findProgress, isStarted, renderSteps } from './start.ts';
import { nameCard } from './top-up.ts';

const HOUR_MS = 3_600_000;
const DAYS_SHOWN = 30;
const RECENT_SHOWN = 6;

export async function showOverview(call: SessionCall): Promise<Answer> {
  const { deps, session } = call;
  const progress = await findProgress(call);
  const { billing } = progress;
  const now = new Date();
  const calendar = await getCalendar(deps.db, session.tenant);
  const month = calendar.monthOf(now);
  const nextHour = new Date(Math.ceil((now.getTime() + 1) / HOUR_MS) * HOUR_MS);
  const period = { from: calendar.startOf(month), to: nextHour };
  const query = { groupBy: [], ...period, rooms: undefined, limit: 1, skip: 0 };
  const { total } = await summarizeUsage(deps.db, session.tenant, query);
  const { lastTopUpError } = billing.settings;
  const seesMoney = mayDo(session.role, 'see_money');
  const [burns, thresholds, grants] = await Promise.all([
    getBurns(deps.db, session.tenant),
    getAlerts(deps.db, session.tenant),
    listGrants(deps.db, session.tenant, undefined, 1),
  ]);
  const granted = grants?.left ?? 0n;
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
<div class="cards">
${
  seesMoney &&
  html`<section class="card"><h2 class="label">Balance</h2><p class="figure">${dollars(billing.balance)}</p>
<p class="hint">Exactly ${exact(billing.balance)}${
    granted > 0n && html`, with ${exact(granted)} of <a href="/console/payments">granted credit</a>`
  }</p></section>
<section class="card"><h2 class="label">Spent in ${monthText(month, now)}</h2><p class="figure">${dollars(total.amount)}</p>
<p class="hint">${countOf(total.records, 'usage record')}. <a href="/console/spend">By day and room</a></p></section>
${progress.hasPaid && !billing.tenant.exempt && runwayCard(burns)}
${progress.hasPaid && burnCard(burns)}
${alertsCard(thresholds)}
${progress.hasPaid && !billing.tenant.exempt && topUpCard(billing.settings)}`
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
${seesMoney && isStarted(progress) && (await renderSpend(call, calendar, now))}
${seesMoney && html`<h2>Newest entries</h2>${renderRecent(billing.recent)}`}
${
  mayDo(session.role, 'pay') &&
  progress.hasPaid &&
  html`<section class="card"><h2>Pay in credit</h2>${payForm(deps, '20')}</section>`
}`;
  return page({ title: 'Overview', body });
}

/** Spend of the last days, one bar for each. */
async function renderSpend({ deps, session }: SessionCall, calendar: Calendar, now: Date): Promise<Html> {
  const next = daysLater(calendar.dayOf(now), 1);
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

function alertsCard(thresholds: readonly SetThreshold[]): Html {
  const raised = thresholds.filter(({ raisedAt }) => raisedAt !== null).length;
  const state =
    thresholds.length === 0
      ? badge('none set', 'warn')
      : raised > 0
        ? badge(`${raised} raised`, 'bad')
        : badge('none raised', 'good');
  return html`<section class="card"><h2 class="label">Alerts</h2><p class="figure">${state}</p>
<p class="hint">${
    thresholds.length === 0
      ? 'Nothing tells you before the credit is spent.'
      : `Of ${countOf(thresholds.length, 'threshold')}.`
  } <a href="/console/alerts">Thresholds</a></p></section>`;
}

function topUpCard(settings: PaymentSettings): Html {
  const { topUpEnabled, topUpBelow, topUpAmount } = settings;
  const problem = topUpEnabled ? describeTopUpError(settings) : null;
  const state =
    problem !== null ? badge('stopped', 'bad') : topUpEnabled ? badge('on', 'good') : badge('off');
  return html`<section class="card"><h2 class="label">Automatic top-up</h2><p class="figure">${state}</p>
<p class="hint">${
    topUpEnabled
      ? `Below ${dollars(topUpBelow)}, ${nameCard(settings)} pays ${dollars(topUpAmount)}.`
      : 'When the credit is spent, no participant is admitted.'
  } <a href="/console/top-up">Automatic top-up</a></p></section>`;
}

function renderWhat(kind: LedgerEntry['kind'], reference: string | null, detail: string | null): Html {
  const what = renderFor(kind, reference);
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
