/** `/console/payments`: what is parked, automatic top-ups, disputes and fraud warnings. */
import { type Html, html } from '@boxoffice/pages/html';
import { operatorOf } from '../../../../access/operators/operator-session.ts';
import { parseReason, REASON_MAX } from '../../../../base/audit/reason.ts';
import { Failure } from '../../../../base/failure.ts';
import { renderTenantId } from '../../../../base/tenants/tenant.ts';
import { getPaymentsOverview } from '../../../../money/overview/overview.ts';
import { getParked } from '../../../../money/parked/list-parked.ts';
import type { OpenEvent } from '../../../../money/parked/open-event.ts';
import { ATTEMPT_STATES, type AttemptState } from '../../../../money/top-ups/attempt.ts';
import { type Answer, done, type Page, page } from '../../../consoles/answer.ts';
import {
  badge,
  emptyState,
  exact,
  type Faults,
  field,
  named,
  select,
  timeOf,
} from '../../../consoles/components.ts';
import { choiceOf } from '../../../consoles/query.ts';
import { table } from '../../../consoles/table.ts';
import { parseTenantFilter, REASON_FAULT } from '../fields.ts';
import type { LoggedInCall } from '../route.ts';
import { tenantLink } from '../tenant-link.ts';

const LINES = 100;

export async function showPayments({ deps, query }: LoggedInCall): Promise<Answer> {
  const tenant = parseTenantFilter(query);
  const state = choiceOf(query, 'state', ATTEMPT_STATES);
  const { parked, attempts, disputes, warnings } = await getPaymentsOverview(deps.db, {
    tenant,
    state,
    limit: LINES,
  });
  const choices = ATTEMPT_STATES.map((value) => ({ value, text: value }));
  const body = html`<h1>Payments</h1>
<h2>Parked notifications</h2>
${renderParked(parked)}
<form class="filters" method="get" action="/console/payments">
${field({ name: 'tenant', label: 'Tenant', value: tenant === undefined ? '' : renderTenantId(tenant) })}
${select('state', 'State of top-ups', [{ value: '', text: 'All' }, ...choices], state ?? '')}
<button>Filter</button></form>
<h2>Automatic top-ups</h2>
${table(
  'Automatic top-ups, the newest first',
  ['Started', 'Tenant', 'State', 'Times sent', 'Payment', 'What was said', 'Amount'],
  attempts.map((each) => [
    timeOf(each.createdAt),
    tenantLink(each.tenant),
    stateBadge(each.state),
    each.sends,
    each.paymentId !== null && html`<code>${each.paymentId}</code>`,
    each.error !== null && named(each.error),
    exact(each.amount),
  ]),
  { numbers: ['Times sent', 'Amount'] },
)}
<h2>Disputes</h2>
${table(
  'Disputes, those that changed last first',
  ['Changed', 'Tenant', 'Dispute', 'Payment', 'Outcome', 'Disputed', 'Withdrawn', 'Came back'],
  disputes.map((each) => [
    timeOf(each.changedAt),
    tenantLink(each.tenant),
    html`<code>${each.id}</code>`,
    html`<code>${each.paymentId}</code>`,
    each.outcome === null ? badge('open', 'warn') : each.outcome,
    exact(each.amount),
    exact(each.withdrawn),
    exact(each.reinstated),
  ]),
  { numbers: ['Disputed', 'Withdrawn', 'Came back'] },
)}
<h2>Fraud warnings</h2>
${table(
  'Fraud warnings, the newest first',
  ['Time', 'Tenant', 'Warning', 'Payment'],
  warnings.map((each) => [
    timeOf(each.at),
    tenantLink(each.tenant),
    html`<code>${each.id}</code>`,
    html`<code>${each.paymentId}</code>`,
  ]),
)}`;
  return page({ title: 'Payments', body });
}

function stateBadge(state: AttemptState): Html {
  const looks = { pending: '', unknown: 'warn', succeeded: 'good', declined: 'bad', canceled: '' } as const;
  return badge(state, looks[state]);
}

function renderParked(events: readonly OpenEvent[]): Html {
  if (events.length === 0) {
    return emptyState(
      'Nothing is parked.',
      'A payment that cannot be credited by itself waits here for you.',
    );
  }
  return table(
    'Notifications that were not applied, the newest first',
    ['Received', 'Notification', 'State', 'Tenant', 'Payment', 'Reason', 'Do'],
    events.map((each) => [
      timeOf(each.receivedAt),
      html`<span><code>${each.id}</code> ${each.type}</span>`,
      each.state === 'parked' ? badge('parked', 'bad') : badge(`failing, tried ${each.tries} times`, 'warn'),
      tenantLink(each.tenant),
      each.paymentId !== null && html`<code>${each.paymentId}</code>`,
      named(each.reason),
      html`<a class="button" href="/console/payments/${encodeURIComponent(each.id)}">Settle</a>`,
    ]),
  );
}

/** `/console/payments/evt_...`: credit a parked payment, or take it off the list. */
export async function showParked(call: LoggedInCall): Promise<Answer> {
  return page(parkedPage(await parkedOf(call), '', {}));
}

function parkedOf({ deps, params }: LoggedInCall): Promise<OpenEvent> {
  return getParked(deps.db, params.id ?? '');
}

/** Asks the provider, and credits the tenant that it names. */
export async function submitSettlement({ deps, params }: LoggedInCall): Promise<Answer> {
  if (!deps.provider) throw new Failure('payments_not_configured');
  const { settleParked } = await import('../../../../money/provider-events/settle-parked.ts');
  const { credited } = await settleParked(deps, deps.provider, params.id ?? '');
  const title = 'The notification is settled';
  const body = html`<h1>${title}</h1>
<p class="done" role="status">${
    credited
      ? html`${exact(credited.amount)} of payment <code>${credited.paymentId}</code> is credited to ${tenantLink(credited.tenant)}.`
      : 'It is applied. It credited nothing.'
  }</p>
<p><a class="button" href="/console/payments">Back to the payments</a></p>`;
  return page({ title, body, layout: 'narrow' });
}

export async function submitDismissal(call: LoggedInCall): Promise<Answer> {
  const event = await parkedOf(call);
  const given = call.form.get('reason');
  const reason = parseReason(given ?? '');
  if (reason === undefined) {
    const faults = { reason: REASON_FAULT };
    return page(parkedPage(event, given ?? '', faults), 400);
  }
  const { dismissParked } = await import('../../../../money/provider-events/settle-parked.ts');
  await dismissParked(call.deps, operatorOf(call.session), event.id, reason);
  return done('/console/payments', 'The notification is dismissed.');
}

function parkedPage(event: OpenEvent, reason: string, faults: Faults): Page {
  const path = `/console/payments/${encodeURIComponent(event.id)}`;
  const body = html`<h1>A parked notification</h1>
<p><code>${event.id}</code>, ${event.type}: ${named(event.reason)}</p>
<section class="card"><h2>Credit it</h2>
<p>Asks the payment provider, and credits the payment to the tenant that it names.</p>
<form method="post" action="${path}/settle"><button class="primary">Settle it</button></form></section>
<section class="card"><h2>Or take it off the list</h2>
<form method="post" action="${path}/dismiss" novalidate>
${field({ name: 'reason', label: 'Reason', value: reason, hint: 'Such as: refunded at the provider.', faults, input: html`maxlength="${REASON_MAX}" required` })}
<button class="danger">Dismiss it without credit</button></form></section>
<p><a href="/console/payments">Back to the payments</a></p>`;
  return { title: 'A parked notification', body, layout: 'narrow' };
}
