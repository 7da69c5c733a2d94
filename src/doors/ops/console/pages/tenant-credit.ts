/** `/console/tenants/t_.../credit`: give credit, or take it back, with a reason. */
import { html } from '@boxoffice/pages/html';
import { operatorOf } from '../../../../access/operators/operator-session.ts';
import { invalidField } from '../../../../base/failure.ts';
import type { Tenant } from '../../../../base/tenants/tenant.ts';
import { adjustCredit } from '../../../../money/ledger/adjust-credit.ts';
import { findAccountOverview } from '../../../../money/overview/overview.sql.ts';
import { type Answer, type Page, page } from '../../../pages/answer.ts';
import { exact, type Faults, field, formId, named } from '../../../pages/components.ts';
import { parseReason, parseSignedDollars, REASON_MAX } from '../fields.ts';
import type { LoggedInCall } from '../route.ts';
import { getTenant, tenantPath } from './tenant.ts';

export async function showCredit(call: LoggedInCall): Promise<Answer> {
  const tenant = await getTenant(call);
  return page(creditPage(tenant, await balanceOf(call, tenant), {}, {}));
}

/** The form has an id, which makes the adjustment idempotent: a form that is sent twice posts once. */
export async function submitCredit(call: LoggedInCall): Promise<Answer> {
  const { deps, form, session } = call;
  const tenant = await getTenant(call);
  const id = form.get('form') ?? '';
  if (!/^[0-9a-f-]{36}$/.test(id)) throw invalidField('form', 'must be that of a page of the console');
  const amount = parseSignedDollars(form.get('dollars'));
  const reason = parseReason(form.get('reason'));
  if (amount === undefined || reason === undefined) {
    const faults: Faults = {
      ...(amount === undefined && { dollars: 'Give dollars other than 0, such as 12.50 or -3.' }),
      ...(reason === undefined && { reason: `Give a reason of 1 to ${REASON_MAX} characters.` }),
    };
    const given = { dollars: form.get('dollars'), reason: form.get('reason') };
    return page(creditPage(tenant, await balanceOf(call, tenant), given, faults), 400);
  }
  const adjustment = { amount, reason, id: `console-${id}` };
  const { balance, posted } = await adjustCredit(deps.db, operatorOf(session), tenant.id, adjustment);
  const body = html`<h1>The credit is adjusted</h1>
<p class="done" role="status">${posted ? html`Posted ${exact(amount)}.` : 'Nothing posted: this form was sent before.'} The balance is
${exact(balance)}.</p>
<p><a class="button" href="${tenantPath(tenant)}">Back to the tenant</a></p>`;
  return page({ title: 'The credit is adjusted', body, layout: 'narrow' });
}

async function balanceOf({ deps }: LoggedInCall, { id }: Tenant): Promise<bigint> {
  return (await findAccountOverview(deps.db, id))?.balance ?? 0n;
}

function creditPage(
  tenant: Tenant,
  balance: bigint,
  given: { readonly dollars?: string | undefined; readonly reason?: string | undefined },
  faults: Faults,
): Page {
  const path = tenantPath(tenant);
  const body = html`<h1>Adjust the credit of ${named(tenant.name)}</h1>
<p>Its balance is ${exact(balance)}.</p>
<form method="post" action="${path}/credit" novalidate>${formId()}
${field({ name: 'dollars', label: 'Dollars', value: given.dollars, hint: '12.50 gives credit; -3 takes three dollars back.', faults, input: html`inputmode="decimal" required` })}
${field({ name: 'reason', label: 'Reason', value: given.reason, hint: 'The tenant sees it in its ledger.', faults, input: html`maxlength="${REASON_MAX}" required` })}
<p><button class="primary">Post the adjustment</button></p></form>
<p><a href="${path}">Back to the tenant</a></p>`;
  return { title: 'Adjust credit', body, layout: 'narrow' };
}
