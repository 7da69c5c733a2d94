/** `/console/tenants/t_.../grants`: credit that was granted, what is left of it, and the forms that grant and void. */
import { type Html, html } from '@boxoffice/pages/html';
import { operatorOf } from '../../../../access/operators/operator-session.ts';
import { parseReason, REASON_MAX } from '../../../../base/audit/reason.ts';
import { Failure } from '../../../../base/failure.ts';
import { readTime } from '../../../../base/lib/time-text.ts';
import { displayMicros } from '../../../../money/amount.ts';
import { type GrantNow, isGrantId } from '../../../../money/grants/grant.ts';
import { grantCredit, voidGrant } from '../../../../money/grants/grant-credit.ts';
import { listGrants } from '../../../../money/grants/list-grants.ts';
import { mustConfirm, TYPED_ONCE_MAX } from '../../../../money/ledger/adjustment.ts';
import { type Answer, page } from '../../../consoles/answer.ts';
import {
  alert,
  dollars,
  exact,
  type Faults,
  field,
  formId,
  named,
  select,
} from '../../../consoles/components.ts';
import { parseFormId } from '../../../consoles/fields.ts';
import { grantsTable } from '../../../consoles/grants-table.ts';
import { faultsOf, orWrong, readFields } from '../../../consoles/read-fields.ts';
import type { Form } from '../../../http/form.ts';
import { noSuchPage } from '../../../http/no-such-page.ts';
import { parseGivenDollars, REASON_FAULT } from '../fields.ts';
import type { LoggedInCall } from '../route.ts';
import { tenantPath } from '../tenant-link.ts';
import { tenantOf } from './tenant.ts';

const PAGE_SIZE = 50;
const WRONG_DOLLARS = 'Give dollars, such as 12.50.';

export const GRANT_FIELDS = ['form', 'dollars', 'reason', 'expires', 'confirm'] as const;

/** What a form says that could not be taken, or what it did. */
interface Outcome {
  readonly form?: Form;
  readonly faults?: Faults;
  readonly wrong?: string;
  readonly done?: Html;
}

export function showGrants(call: LoggedInCall): Promise<Answer> {
  return render(call, {});
}

/** The form has an id, which makes the grant idempotent: a form that is sent twice grants once. */
export async function submitGrant(call: LoggedInCall): Promise<Answer> {
  const { form, session, deps } = call;
  const tenant = await tenantOf(call);
  const key = `console-${parseFormId(form)}`;
  return orRefused(call, form, async () => {
    const given = { ...parseGrant(form), key };
    const { balance, posted } = await grantCredit(deps.db, operatorOf(session), tenant.id, given);
    return posted
      ? html`Granted ${exact(given.amount)}. The balance is ${exact(balance)}.`
      : html`Nothing granted: this form was sent before. The balance is ${exact(balance)}.`;
  });
}

export async function submitVoiding(call: LoggedInCall): Promise<Answer> {
  const { form, session, deps } = call;
  const tenant = await tenantOf(call);
  const id = form.get('grant') ?? '';
  return orRefused(call, form, async () => {
    const { why: reason } = readFields({
      why: () => orWrong(parseReason(form.get('why') ?? ''), REASON_FAULT),
    });
    const { grant, balance } = await voidGrant(deps.db, operatorOf(session), tenant.id, { id, reason });
    return html`Took back ${exact(grant.forfeited)}. The balance is ${exact(balance)}.`;
  });
}

async function orRefused(call: LoggedInCall, form: Form, act: () => Promise<Html>): Promise<Answer> {
  try {
    return await render(call, { done: await act() });
  } catch (error) {
    if (!(error instanceof Failure) || error.kind !== 'invalid_request') throw error;
    const faults = faultsOf(error, GRANT_FIELDS);
    return render(call, { form, ...(faults ? { faults } : { wrong: error.message }) });
  }
}

function parseGrant(form: Form) {
  const dollarsIn = (name: string) => parseGivenDollars(form.get(name));
  const { dollars, reason, expires } = readFields(
    {
      dollars: () => parseAmount(dollarsIn('dollars')),
      reason: () => orWrong(parseReason(form.get('reason') ?? ''), REASON_FAULT),
      expires: () => parseDay((form.get('expires') ?? '').trim()),
      confirm: () => dollarsIn('confirm'),
    },
    {
      confirm: ({ dollars = 0n, confirm }) =>
        orWrong(!mustConfirm(dollars, 0n).amount || confirm === dollars, 'Type the amount again.'),
    },
  );
  return { amount: dollars, reason, expiresAt: expires };
}

function parseAmount(amount: bigint | undefined): bigint {
  return orWrong(amount !== undefined && amount > 0n && amount, WRONG_DOLLARS);
}

function parseDay(text: string): Date | undefined {
  if (text === '') return undefined;
  return orWrong(readTime(text, /^\d{4}-\d\d-\d\d$/), 'Give a day, such as 2027-01-31.');
}

async function render(call: LoggedInCall, { form, faults = {}, wrong, done }: Outcome): Promise<Answer> {
  const tenant = await tenantOf(call);
  const after = call.query.get('after');
  const isAsked = after === undefined || isGrantId(after);
  const listed = isAsked ? await listGrants(call.deps.db, tenant.id, after, PAGE_SIZE) : undefined;
  if (!listed) throw noSuchPage();
  const path = `${tenantPath(tenant)}/grants`;
  const body = html`<h1>Grants of ${named(tenant.name)}</h1>
${alert(wrong)}${done && html`<p class="done" role="status">${done}</p>`}
<p>Usage spends granted credit before paid credit, the grant with the earliest end first. ${exact(listed.left)} is left.</p>
${grantsTable(listed.items)}
<p class="pages">${after !== undefined && html`<a href="${path}">Newest</a>`}${
    listed.end && html`<a href="${path}?after=${listed.end.id}" rel="next">Older grants</a>`
  }</p>
${grantForm(path, form, faults)}
${voidForm(path, listed.items, form, faults)}
<p><a href="${tenantPath(tenant)}">Back to the tenant</a></p>`;
  const isWrong = wrong !== undefined || Object.keys(faults).length > 0;
  return page({ title: `Grants of ${tenant.name}`, body }, isWrong ? 400 : 200);
}

function grantForm(path: string, form: Form | undefined, faults: Faults): Html {
  const value = (name: string) => form?.get(name);
  return html`<section class="card"><h2>Grant credit</h2>
<form method="post" action="${path}" novalidate>${formId()}
${field({ name: 'dollars', label: 'Dollars', value: value('dollars'), hint: 'Such as 12.50.', faults, input: html`inputmode="decimal" required` })}
${field({ name: 'reason', label: 'Reason', value: value('reason'), hint: 'The tenant sees it.', faults, input: html`maxlength="${REASON_MAX}" required` })}
${field({ name: 'expires', label: 'Expires on (UTC)', value: value('expires'), hint: 'What is left leaves the balance when this day begins. Empty: never.', faults, input: html`type="date"` })}
${field({ name: 'confirm', label: 'The dollars again', value: undefined, hint: `Only beyond ${dollars(TYPED_ONCE_MAX)}.`, faults, input: html`inputmode="decimal" autocomplete="off"` })}
<p><button class="primary">Grant</button></p></form></section>`;
}

function voidForm(
  path: string,
  grants: readonly GrantNow[],
  form: Form | undefined,
  faults: Faults,
): Html | undefined {
  const active = grants.filter(({ state }) => state === 'active');
  if (active.length === 0) return undefined;
  const choices = active.map(({ id, reason, left }) => ({
    value: id,
    text: `${reason} (${displayMicros(left)} left)`,
  }));
  return html`<section class="card"><h2>Void a grant</h2>
<p>What is left of it leaves the balance. What was spent stays spent.</p>
<form method="post" action="${path}/void" novalidate>
${select('grant', 'Grant', choices, form?.get('grant') ?? choices[0]!.value)}
${field({ name: 'why', label: 'Reason', value: form?.get('why'), hint: 'The tenant sees it.', faults, input: html`maxlength="${REASON_MAX}" required` })}
<p><button class="danger">Void</button></p></form></section>`;
}
