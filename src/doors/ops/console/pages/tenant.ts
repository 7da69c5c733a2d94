/** `/console/tenants/t_...`: everything about one tenant, but no secret. */
import { type Html, html } from '@boxoffice/pages/html';
import type { ApiKey } from '../../../../access/keys/api-key.ts';
import { LINK_MINUTES } from '../../../../access/logins/login-link.ts';
import { makeConsoleLink } from '../../../../access/logins/make-console-link.ts';
import { getTenantOverview } from '../../../../access/operators/get-tenant-overview.ts';
import { operatorOf } from '../../../../access/operators/operator-session.ts';
import { invalidField } from '../../../../base/failure.ts';
import { getTenant } from '../../../../base/tenants/get-tenant.ts';
import { renderTenantId, type Tenant } from '../../../../base/tenants/tenant.ts';
import { getBudgets } from '../../../../control/budgets/get-budgets.ts';
import { getTimeZone } from '../../../../money/calendar/get-time-zone.ts';
import {
  describeTopUpError,
  type PaymentSettings,
  pauseOf,
} from '../../../../money/payments/payment-settings.ts';
import { setExempt } from '../../../../money/tenant-status/change-status.ts';
import { unfreezeTopUps } from '../../../../money/top-ups/unfreeze-top-ups.ts';
import { type Answer, done, page } from '../../../consoles/answer.ts';
import { budgetsTable } from '../../../consoles/budgets-table.ts';
import { exact, named, secretBox, timeOf } from '../../../consoles/components.ts';
import { facts, table } from '../../../consoles/table.ts';
import { parseTenantParam } from '../fields.ts';
import type { LoggedInCall } from '../route.ts';
import { tenantPath } from '../tenant-link.ts';
import { statusBadge } from './tenants.ts';

/** The tenant that the path names. Fails with `not_found`. */
export function tenantOf({ deps, params }: LoggedInCall): Promise<Tenant> {
  return getTenant(deps.db, parseTenantParam(params.tenant));
}

export async function showTenant({ deps, params }: LoggedInCall): Promise<Answer> {
  const found = await getTenantOverview(deps.db, parseTenantParam(params.tenant));
  const { tenant, account, settings, keys } = found;
  const { zone, next } = await getTimeZone(deps.db, tenant.id);
  const id = renderTenantId(tenant.id);
  const path = tenantPath(tenant);
  const body = html`<h1>${named(tenant.name)}</h1>
<p>${statusBadge(tenant.status)} <code>${id}</code></p>
${renderActions(tenant, settings)}
${facts('The tenant', {
  'E-mail address': named(tenant.email),
  Created: timeOf(tenant.createdAt),
  Balance: exact(account.balance),
  'New sessions': found.admitted ? 'admitted' : 'refused',
  'Charged for usage': tenant.exempt ? 'no: it is exempt' : 'yes',
  'Time zone': next ? html`${zone}, and from ${timeOf(next.from)} on ${next.zone}` : zone,
  'Entries of the ledger': account.postings,
  Conflicts: html`<a href="/console/conflicts?tenant=${id}">${account.conflicts}</a>`,
  'What it has': html`<a href="${path}/ledger">Ledger</a>, <a href="${path}/members">members</a>,
<a href="${path}/room-sessions">room sessions</a>, <a href="${path}/webhooks">webhooks</a>`,
  'What it changed, and who': html`<a href="/console/audit?tenant=${id}">Audit trail</a>`,
})}
<h2>Payments</h2>
${renderPayments(settings, id)}
<h2>Budgets</h2>
${budgetsTable(await getBudgets(deps.db, tenant.id))}
<h2>API keys</h2>
${renderKeys(keys)}
<h2>Changes of the status</h2>
${table(
  'Changes of the status',
  ['Time', 'From', 'To', 'Reason', 'Told to its people'],
  found.statusChanges.map((each) => [
    timeOf(each.at),
    each.from,
    each.to,
    named(each.reason),
    each.told !== null && named(each.told),
  ]),
)}
<h2>Changes of limits</h2>
${table(
  'Changes of limits',
  ['Time', 'Limit', 'From', 'To', 'Reason'],
  found.limitChanges.map((each) => [
    timeOf(each.at),
    each.name,
    each.from ?? 'usual',
    each.to ?? 'usual',
    each.reason === null ? undefined : named(each.reason),
  ]),
)}`;
  return page({ title: id, body });
}

function renderActions(tenant: Tenant, settings: PaymentSettings): Html {
  const path = tenantPath(tenant);
  const isStopped = [settings.frozenBy, settings.parkedPayments, settings.reversedPayments].some(
    (each) => each.length > 0,
  );
  const button = (action: string, text: string) =>
    html`<form class="inline" method="post" action="${path}/${action}"><button>${text}</button></form>`;
  const hasConsole = tenant.status === 'pending' || tenant.status === 'active';
  return html`<div class="actions">
<a class="button" href="${path}/credit">Adjust credit</a>
<a class="button" href="${path}/grants">Grants</a>
<a class="button" href="${path}/status">Status, and whether it is charged</a>
<a class="button" href="${path}/limits">Limits</a>
<a class="button" href="${path}/details">Name and billing details</a>
<a class="button" href="${path}/sessions">Sessions</a>
${isStopped && button('unfreeze', 'Let automatic top-ups run again')}
${hasConsole && button('console-link', 'Make a link to its console')}
</div>`;
}

function renderPayments(settings: PaymentSettings, id: string): Html {
  const error = describeTopUpError(settings);
  const { topUpEnabled, topUpAmount, topUpBelow } = settings;
  const pause = pauseOf(settings);
  return facts('Payments', {
    'Customer at the provider': settings.customerId && html`<code>${settings.customerId}</code>`,
    'Saved card': settings.paymentMethodId && html`<code>${settings.paymentMethodId}</code>`,
    'First paid': settings.firstPaidAt && timeOf(settings.firstPaidAt),
    'Automatic top-up': topUpEnabled ? `${exact(topUpAmount)} when below ${exact(topUpBelow)}` : 'off',
    'Paused until': pause instanceof Date ? timeOf(pause) : pause,
    'Frozen by': settings.frozenBy.join(', '),
    'Reversed payments': settings.reversedPayments.join(', '),
    'Parked payments': settings.parkedPayments.join(', '),
    'What stops it, or the last error': error === null ? null : named(error),
    'Its automatic top-ups': html`<a href="/console/payments?tenant=${id}">Attempts and disputes</a>`,
  });
}

function renderKeys(keys: readonly ApiKey[]): Html {
  return table(
    'API keys',
    ['Key', 'Name', 'Kind', 'Created', 'Retires', 'Revoked'],
    keys.map((key) => [
      html`<code>${key.id}</code>`,
      named(key.name),
      key.kind,
      timeOf(key.createdAt),
      key.retiresAt && timeOf(key.retiresAt),
      key.revokedAt && timeOf(key.revokedAt),
    ]),
  );
}

export async function submitExemption(call: LoggedInCall): Promise<Answer> {
  const tenant = await tenantOf(call);
  const wanted = call.form.get('exempt') ?? '';
  if (!['yes', 'no'].includes(wanted)) throw invalidField('exempt', 'must be yes or no');
  await setExempt(call.deps.db, operatorOf(call.session), tenant.id, wanted === 'yes');
  return done(tenantPath(tenant), `The tenant ${wanted === 'yes' ? 'is exempt' : 'pays'} from now on.`);
}

export async function submitUnfreezing(call: LoggedInCall): Promise<Answer> {
  const tenant = await tenantOf(call);
  await unfreezeTopUps(call.deps.db, operatorOf(call.session), tenant.id);
  return done(tenantPath(tenant), 'Automatic top-ups may run again.');
}

/** As `npm run admin -- console login` does: for a tenant whose mail is lost. */
export async function submitConsoleLink(call: LoggedInCall): Promise<Answer> {
  const { deps, session } = call;
  const id = parseTenantParam(call.params.tenant);
  const url = await makeConsoleLink(deps.db, operatorOf(session), id, deps.config.publicUrl);
  const body = html`<h1>A link to the tenant’s console</h1>
<p class="note">It logs in as an owner, once, within ${LINK_MINUTES} minutes. What is changed there stands in the audit trail with
your name.</p>
<section class="card">${secretBox('link', 'The link', url)}</section>
<p><a class="button" href="${tenantPath({ id })}">Back to the tenant</a></p>`;
  return page({ title: 'A link to the tenant’s console', body });
}
