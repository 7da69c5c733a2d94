/** `/console/tenants/t_.../credit`: give credit, or take it back, with a reason, after a look at what it changes. */
import { html } from '@boxoffice/pages/html';
import { operatorOf } from '../../../../access/operators/operator-session.ts';
import { parseReason, REASON_MAX } from '../../../../base/audit/reason.ts';
import { Failure } from '../../../../base/failure.ts';
import { admits, type Tenant } from '../../../../base/tenants/tenant.ts';
import { displayMicros } from '../../../../money/amount.ts';
import { adjustCredit, getBalance } from '../../../../money/ledger/adjust-credit.ts';
import { type Confirmed, mustConfirm, TYPED_ONCE_MAX } from '../../../../money/ledger/adjustment.ts';
import { type Answer, type Page, page } from '../../../consoles/answer.ts';
import { checkbox, dollars, exact, type Faults, field, formId, named } from '../../../consoles/components.ts';
import { faultLine } from '../../../consoles/fault-notice.ts';
import { parseFormId } from '../../../consoles/fields.ts';
import { faultsOf, orWrong, readFields } from '../../../consoles/read-fields.ts';
import { facts } from '../../../consoles/table.ts';
import { parseGivenDollars, REASON_FAULT } from '../fields.ts';
import type { LoggedInCall } from '../route.ts';
import { tenantPath } from '../tenant-link.ts';
import { tenantOf } from './tenant.ts';

export async function showCredit(call: LoggedInCall): Promise<Answer> {
  const tenant = await tenantOf(call);
  return page(creditPage(tenant, await getBalance(call.deps.db, tenant.id), {}, {}));
}

/** What the two forms send: the second one repeats the first, and says that its page was read. */
export const CREDIT_FIELDS = ['form', 'dollars', 'reason', 'reviewed', 'confirm', 'negative'] as const;

/** The form has an id, which makes the adjustment idempotent: a form that is sent twice posts once. */
export async function submitCredit(call: LoggedInCall): Promise<Answer> {
  const { form } = call;
  const tenant = await tenantOf(call);
  const id = parseFormId(form);
  const balance = await getBalance(call.deps.db, tenant.id);
  let draft: Draft;
  try {
    const { dollars: amount, reason } = readFields({
      dollars: () => orWrong(parseGivenDollars(form.get('dollars')), WRONG_DOLLARS),
      reason: () => orWrong(parseReason(form.get('reason') ?? ''), REASON_FAULT),
    });
    draft = { id, amount, reason, balance };
  } catch (error) {
    const faults = faultsOf(error);
    if (!faults) throw error;
    const given = { dollars: form.get('dollars'), reason: form.get('reason') };
    return page(creditPage(tenant, balance, given, faults), 400);
  }
  if (form.get('reviewed') !== 'yes') return page(reviewPage(tenant, draft, {}));
  return postCredit(call, tenant, draft);
}

interface Draft {
  readonly id: string;
  /** Micros, as is the balance when the page was asked for. */
  readonly amount: bigint;
  readonly reason: string;
  readonly balance: bigint;
}

async function postCredit(call: LoggedInCall, tenant: Tenant, draft: Draft): Promise<Answer> {
  const { deps, form, session } = call;
  const { amount, reason } = draft;
  const confirmed = {
    amount: parseGivenDollars(form.get('confirm')),
    negative: form.get('negative') === 'on',
  };
  const adjustment = { amount, reason, id: `console-${draft.id}`, confirmed };
  try {
    const { before, balance, posted } = await adjustCredit(
      deps.db,
      operatorOf(session),
      tenant.id,
      adjustment,
    );
    return page(postedPage(tenant, amount, posted ? before : undefined, balance));
  } catch (error) {
    if (!(error instanceof Failure) || error.kind !== 'invalid_request') throw error;
    // Charges may have changed what must be confirmed.
    const now = { ...draft, balance: await getBalance(deps.db, tenant.id) };
    const faults = confirmationFaults(now, confirmed);
    if (Object.keys(faults).length === 0) throw error;
    return page(reviewPage(tenant, now, faults), 400);
  }
}

function confirmationFaults({ amount, balance }: Draft, confirmed: Confirmed): Faults {
  const must = mustConfirm(amount, balance);
  return {
    ...(must.amount && confirmed.amount !== amount && { confirm: `Type ${plain(amount)}.` }),
    ...(must.negative && !confirmed.negative && { negative: 'Tick the box, or take less.' }),
  };
}

const WRONG_DOLLARS =
  'Give dollars other than 0, such as 12.50 or -3, with at most 9 digits before the point and 6 after it.';

/** As it is typed: without `$`, commas and zeros at the end. */
function plain(micros: bigint): string {
  return displayMicros(micros)
    .replace('$', '')
    .replace(/\.?0+$/, '');
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
<p><button class="primary">Look at the adjustment</button></p></form>
<p>Nothing is posted before the next page.</p>
<p><a href="${path}">Back to the tenant</a></p>`;
  return { title: 'Adjust credit', body, layout: 'narrow' };
}

/** What the adjustment changes. Nothing is posted yet. */
function reviewPage(tenant: Tenant, draft: Draft, faults: Faults): Page {
  const { id, amount, reason, balance } = draft;
  const path = tenantPath(tenant);
  const must = mustConfirm(amount, balance);
  const body = html`<h1>${amount < 0n ? 'Take credit from' : 'Give credit to'} ${named(tenant.name)}</h1>
${facts('The adjustment', { Before: exact(balance), Change: exact(amount), After: html`<strong>${exact(balance + amount)}</strong>`, Reason: named(reason) })}
<p>${describeEffect(tenant, balance, balance + amount)}</p>
<form method="post" action="${path}/credit" novalidate>
<input type="hidden" name="form" value="${id}"><input type="hidden" name="dollars" value="${plain(amount)}">
<input type="hidden" name="reason" value="${reason}"><input type="hidden" name="reviewed" value="yes">
${
  must.amount &&
  field({
    name: 'confirm',
    label: html`To confirm, type the amount: <code>${plain(amount)}</code>`,
    hint: `Amounts beyond ${dollars(TYPED_ONCE_MAX)} are typed twice.`,
    faults,
    input: html`inputmode="decimal" autocomplete="off" required`,
  })
}
${
  must.negative &&
  html`${faults.negative !== undefined && faultLine('negative', faults.negative)}
${checkbox('negative', 'Let the balance become negative', false, 'The tenant owes this amount, and pays it with its next payment.', faults.negative !== undefined)}`
}
<p><button class="${amount < 0n ? 'danger' : 'primary'}">Post ${exact(amount)}</button></p></form>
<p><a href="${path}/credit">Change the amount</a> · <a href="${path}">Back to the tenant</a></p>`;
  return { title: 'Look at the adjustment', body, layout: 'narrow' };
}

/** Whether the tenant is admitted is what an adjustment changes besides the balance. */
function describeEffect(tenant: Tenant, before: bigint, after: bigint): string {
  const [was, is] = [admits(tenant, before), admits(tenant, after)];
  if (was && !is)
    return 'The tenant loses admission: joins and tokens are refused until it has credit again.';
  if (!was && is) return 'The tenant is admitted again: joins and tokens work.';
  if (is) return 'The tenant stays admitted.';
  return 'The tenant is not admitted, before or after.';
}

function postedPage(tenant: Tenant, amount: bigint, before: bigint | undefined, balance: bigint): Page {
  const body = html`<h1>The credit is adjusted</h1>
<p class="done" role="status">${
    before === undefined
      ? html`Nothing posted: this form was sent before. The balance is ${exact(balance)}.`
      : html`Posted ${exact(amount)}. The balance was ${exact(before)}, and is ${exact(balance)}.`
  }</p>
<p><a class="button" href="${tenantPath(tenant)}">Back to the tenant</a></p>`;
  return { title: 'The credit is adjusted', body, layout: 'narrow' };
}
