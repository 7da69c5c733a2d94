/** `/console/alerts`: how long the credit lasts, and the thresholds below which the tenant is alerted. */
import { type Html, html } from '@boxoffice/pages/html';
import { mayDo } from '../../../access/rights/abilities.ts';
import { actorOf } from '../../../access/sessions/session.ts';
import { inTransaction } from '../../../base/db/transaction.ts';
import { invalidField } from '../../../base/failure.ts';
import {
  BELOW_HOURS_MAX,
  type SetThreshold,
  THRESHOLD_KINDS,
  THRESHOLDS_MAX,
  type Threshold,
} from '../../../money/alerts/alert-threshold.ts';
import { addAlert, removeAlert } from '../../../money/alerts/change-alerts.ts';
import { getAlerts } from '../../../money/alerts/get-alerts.ts';
import { microsOfCents } from '../../../money/amount.ts';
import { getRunway } from '../../../money/runway/get-runway.ts';
import { type Answer, done, page } from '../../consoles/answer.ts';
import {
  badge,
  describeThreshold,
  dollars,
  emptyState,
  type Faults,
  field,
  select,
  timeOf,
} from '../../consoles/components.ts';
import { parseChoice, parseDollars } from '../../consoles/fields.ts';
import { faultsOf, readFields } from '../../consoles/read-fields.ts';
import { table } from '../../consoles/table.ts';
import type { SessionCall } from '../route.ts';
import { renderBurns, renderRooms } from './runway.ts';

const KIND_CHOICES = [
  { value: 'balance', text: 'Dollars of credit' },
  { value: 'runway', text: 'Hours that the credit lasts' },
];

export async function showAlerts(call: SessionCall): Promise<Answer> {
  return alertsPage(call, {});
}

export async function submitAlert(call: SessionCall): Promise<Answer> {
  const { deps, session, form, address } = call;
  try {
    const wanted = parseThreshold(form.get('kind'), form.get('below'));
    const actor = actorOf(session, address);
    await inTransaction(deps.db, (tx) => addAlert(tx, actor, session.tenant, wanted));
  } catch (error) {
    const faults = faultsOf(error, ['below']);
    if (!faults) throw error;
    return alertsPage(call, faults, 400);
  }
  deps.events.wake(session.tenant);
  return done('/console/alerts', 'The threshold is set.');
}

export async function submitAlertRemoval({ deps, session, form, address }: SessionCall): Promise<Answer> {
  const kind = parseChoice('kind', form.get('kind'), THRESHOLD_KINDS);
  const below = form.get('below') ?? '';
  if (!/^\d{1,18}$/.test(below)) throw invalidField('below', 'must be that of a threshold');
  const unwanted = { kind, below: BigInt(below) };
  await inTransaction(deps.db, (tx) => removeAlert(tx, actorOf(session, address), session.tenant, unwanted));
  deps.events.wake(session.tenant);
  return done('/console/alerts', 'The threshold is removed.');
}

function parseThreshold(kindText: string | undefined, text: string | undefined): Threshold {
  return readFields({
    kind: () => parseChoice('kind', kindText, THRESHOLD_KINDS),
    below: () => parseBelow(kindText, text),
  });
}

/** Micros of dollars, or hours. */
function parseBelow(kind: string | undefined, text: string | undefined): bigint {
  if (kind !== 'runway') return microsOfCents(parseDollars('below', text));
  const hours = /^\d{1,5}$/.test(text?.trim() ?? '') ? Number(text) : 0;
  if (hours < 1 || hours > BELOW_HOURS_MAX)
    throw invalidField('below', `must be a whole number of hours from 1 to ${BELOW_HOURS_MAX}`);
  return BigInt(hours);
}

async function alertsPage(
  { deps, session, form }: SessionCall,
  faults: Faults,
  status = 200,
): Promise<Answer> {
  const runway = await getRunway(deps.db, session.tenant, '24h');
  const thresholds = await getAlerts(deps.db, session.tenant);
  const mayChange = mayDo(session.role, 'change_alerts');
  const body = html`<h1>Alerts</h1>
<p>The balance is <strong>${dollars(runway.balance)}</strong>.</p>
${renderBurns(runway)}
<h2>Tell us when less is left than</h2>
${
  thresholds.length === 0
    ? emptyState(
        'No threshold is set.',
        'Choose a balance, or how many hours the credit should last. An alert goes out once, before rooms close.',
      )
    : renderThresholds(thresholds, mayChange)
}
<p>Alerts go to <a href="/console/mail">mail addresses</a> and, as events, to webhooks.</p>
${
  mayChange &&
  thresholds.length < THRESHOLDS_MAX &&
  html`<section class="card"><h2>Add a threshold</h2><form method="post" action="/console/alerts" novalidate>
${select('kind', 'Measure', KIND_CHOICES, form.get('kind') ?? 'balance', faults)}
${field({
  name: 'below',
  label: 'Less than',
  value: form.get('below'),
  hint: 'Such as 20.50 dollars, or 24 hours.',
  faults,
  input: html`inputmode="decimal" autocomplete="off" required`,
})}
<p><button class="primary">Add</button></p></form></section>`
}
<h2>Rooms that cost most in the last 24 hours</h2>
${renderRooms(runway)}`;
  return page({ title: 'Alerts', body }, status);
}

function renderThresholds(thresholds: readonly SetThreshold[], mayChange: boolean): Html {
  return table(
    'Thresholds',
    ['Less than', 'State', mayChange && 'Change'],
    thresholds.map((each) => {
      const text = describeThreshold(each);
      return [
        text,
        html`<span>${
          each.raisedAt
            ? html`${badge('below it', 'bad')} since ${timeOf(each.raisedAt)}`
            : badge('above it', 'good')
        }</span>`,
        html`<form class="inline" method="post" action="/console/alerts/remove">
<input type="hidden" name="kind" value="${each.kind}"><input type="hidden" name="below" value="${each.below}">
<button>Remove<span class="hidden"> ${text}</span></button></form>`,
      ];
    }),
    { names: 'Less than' },
  );
}
