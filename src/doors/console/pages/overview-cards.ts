/** The figures of the overview, which change by themselves. */
import { type Html, html } from '@boxoffice/pages/html';
import { mayDo } from '../../../access/rights/abilities.ts';
import { maySessionStill } from '../../../access/sessions/authenticate-session.ts';
import { tailBalance } from '../../../control/streams/tail-balance.ts';
import type { SetThreshold } from '../../../money/alerts/alert-threshold.ts';
import { getAlerts } from '../../../money/alerts/get-alerts.ts';
import type { Calendar } from '../../../money/calendar/calendar.ts';
import { getCalendar } from '../../../money/calendar/get-calendar.ts';
import { listGrants } from '../../../money/grants/list-grants.ts';
import { describeTopUpError, type PaymentSettings } from '../../../money/payments/payment-settings.ts';
import { getBurns } from '../../../money/runway/get-runway.ts';
import { summarizeUsage } from '../../../money/usage/summarize-usage.ts';
import type { Answer } from '../../consoles/answer.ts';
import { badge, countOf, dollars, exact, monthText } from '../../consoles/components.ts';
import type { SessionCall } from '../route.ts';
import { streamToTab } from '../tab-stream.ts';
import { burnCard, runwayCard } from './runway.ts';
import { findProgress, type Progress } from './start.ts';
import { nameCard } from './top-up.ts';

const HOUR_MS = 3_600_000;

/** The stream of one tab: the cards whenever they change. It ends with the session, and does not count as a use of it. */
export async function sendCards(call: SessionCall): Promise<Answer> {
  const { deps, session } = call;
  const mayGoOn = () => maySessionStill(deps, session, 'see_overview');
  return streamToTab(call, async function* (signal) {
    let sent = '';
    for await (const tail of tailBalance(deps, session, { signal, mayGoOn })) {
      if (tail === 'over') yield 'event: over\ndata: over\n\n';
      const { text } = tail === 'changed' ? await renderCardsNow(call) : { text: sent };
      yield text === sent ? ': nothing new\n\n' : `event: part\ndata: ${text.replace(/[\r\n]+/g, ' ')}\n\n`;
      sent = text;
    }
  });
}

function renderCardsNow(call: SessionCall): Promise<Html> {
  const { deps, session } = call;
  return deps.calls.run(session, async () => {
    const progress = await findProgress(call);
    const thresholds = await getAlerts(deps.db, session.tenant);
    return renderCards(call, { progress, thresholds, calendar: await getCalendar(deps.db, session.tenant) });
  });
}

/** What the page has read, and what the cards show of it. */
interface Shown {
  readonly progress: Progress;
  readonly thresholds: readonly SetThreshold[];
  readonly calendar: Calendar;
}

export async function renderCards(
  { deps, session }: Pick<SessionCall, 'deps' | 'session'>,
  { progress: { billing, hasPaid }, thresholds, calendar }: Shown,
): Promise<Html> {
  const now = new Date();
  const month = calendar.monthOf(now);
  const nextHour = new Date(Math.ceil((now.getTime() + 1) / HOUR_MS) * HOUR_MS);
  const period = { from: calendar.startOf(month), to: nextHour };
  const query = { groupBy: [], ...period, rooms: undefined, limit: 1, skip: 0 };
  const { total } = await summarizeUsage(deps.db, session.tenant, query);
  const burns = await getBurns(deps.db, session.tenant);
  const grants = await listGrants(deps.db, session.tenant, undefined, 1);
  const granted = grants?.left ?? 0n;
  return html`<div class="cards" id="cards">
${
  mayDo(session.role, 'see_money') &&
  html`<section class="card"><h2 class="label">Balance</h2><p class="figure">${dollars(billing.balance)}</p>
<p class="hint">Exactly ${exact(billing.balance)}${
    granted > 0n && html`, with ${exact(granted)} of <a href="/console/payments">granted credit</a>`
  }</p></section>
<section class="card"><h2 class="label">Spent in ${monthText(month, now)}</h2><p class="figure">${dollars(total.amount)}</p>
<p class="hint">${countOf(total.records, 'usage record')}. <a href="/console/spend">By day and room</a></p></section>
${hasPaid && !billing.tenant.exempt && runwayCard(burns)}
${hasPaid && burnCard(burns)}
${alertsCard(thresholds)}
${hasPaid && !billing.tenant.exempt && topUpCard(billing.settings)}`
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
</div>`;
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
