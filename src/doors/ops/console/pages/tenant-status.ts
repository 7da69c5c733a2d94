/** `/console/tenants/t_.../status`: move a tenant to another status, with a reason. */
import { type Html, html } from '@boxoffice/pages/html';
import { operatorOf } from '../../../../access/operators/operator-session.ts';
import { parseReason, REASON_MAX } from '../../../../base/audit/reason.ts';
import {
  operatorMayMove,
  renderTenantId,
  TENANT_STATUSES,
  type Tenant,
  type TenantStatus,
} from '../../../../base/tenants/tenant.ts';
import { changeStatus } from '../../../../money/tenant-status/change-status.ts';
import { type Answer, done, type Page, page } from '../../../consoles/answer.ts';
import { capitalized, type Faults, field, named, select } from '../../../consoles/components.ts';
import { parseChoice } from '../../../consoles/fields.ts';
import { faultsOf, orWrong, readFields } from '../../../consoles/read-fields.ts';
import type { Form } from '../../../http/form.ts';
import { REASON_FAULT } from '../fields.ts';
import type { LoggedInCall } from '../route.ts';
import { tenantPath } from '../tenant-link.ts';
import { tenantOf } from './tenant.ts';

const MEANINGS: Readonly<Record<TenantStatus, string>> = {
  pending: 'pending: it never paid',
  active: 'active: it may do everything',
  suspended: 'suspended: nothing more is admitted; credit may still be paid in',
  archived: 'archived: it is put away, and can come back',
  deleted: 'deleted, for good; its ledger is kept',
};

const WRONG_TOLD = `Give a text of at most ${REASON_MAX} characters, or none.`;
const WRONG_CONFIRM = 'A deleted tenant never comes back. Type its id to delete it.';

export async function showStatus(call: LoggedInCall): Promise<Answer> {
  return page(statusPage(await tenantOf(call), call.form, {}));
}

export async function submitStatus(call: LoggedInCall): Promise<Answer> {
  const { deps, form, session } = call;
  const tenant = await tenantOf(call);
  try {
    const { status, reason, told } = readFields({
      status: () => parseChoice('status', form.get('status'), TENANT_STATUSES),
      reason: () => orWrong(parseReason(form.get('reason') ?? ''), REASON_FAULT),
      told: () => parseTold(form.get('told') ?? ''),
      confirm: () => orWrong(form.get('status') !== 'deleted' || isTyped(form, tenant), WRONG_CONFIRM),
    });
    await changeStatus(deps.db, operatorOf(session), tenant.id, status, reason, told);
    return done(tenantPath(tenant), `The tenant is ${status} now.`);
  } catch (error) {
    const faults = faultsOf(error);
    if (!faults) throw error;
    return page(statusPage(tenant, form, faults), 400);
  }
}

function parseTold(text: string): string | undefined {
  return text.trim() === '' ? undefined : orWrong(parseReason(text), WRONG_TOLD);
}

const isTyped = (form: Form, { id }: Tenant) => form.get('confirm')?.trim() === renderTenantId(id);

function statusPage(tenant: Tenant, given: Form, faults: Faults): Page {
  const path = tenantPath(tenant);
  const moves = TENANT_STATUSES.filter((each) => operatorMayMove(tenant.status, each));
  const choices = moves.map((value) => ({ value, text: value }));
  const body = html`<h1>Change the status of ${named(tenant.name)}</h1>
<p>It is ${MEANINGS[tenant.status]}.</p>
${
  moves.length === 0
    ? html`<p class="note">No other status follows this one.</p>`
    : html`<form method="post" action="${path}/status" novalidate>
${select('status', 'New status', choices, given.get('status') ?? moves[0]!, faults)}
${moves.map((each) => html`<p class="hint">${capitalized(MEANINGS[each])}.</p>`)}
${field({ name: 'reason', label: 'Reason', value: given.get('reason'), hint: 'For operators who read it later.', faults, input: html`maxlength="${REASON_MAX}" required` })}
${field({ name: 'told', label: 'What its people are told', value: given.get('told'), hint: 'Its page and the mail to its owners say it. It may be empty.', faults, input: html`maxlength="${REASON_MAX}"` })}
${field({ name: 'confirm', label: 'To delete it: its id', hint: html`<code>${renderTenantId(tenant.id)}</code>`, faults, input: html`autocomplete="off"` })}
<p><button class="danger">Change the status</button></p></form>`
}
${renderCharging(tenant)}
<p><a href="${path}">Back to the tenant</a></p>`;
  return { title: 'Change the status', body, layout: 'narrow' };
}

/** A button among others would be pressed by mistake. */
function renderCharging(tenant: Tenant): Html {
  const { exempt } = tenant;
  return html`<h2>Whether it is charged</h2>
<p>${
    exempt
      ? 'Its usage costs nothing now, and it is admitted whatever its balance is. Charged again, it pays for what happens from then on.'
      : 'It pays for its usage. If it is charged nothing, what it uses from then on is free, and it is admitted whatever its balance is, until it is charged again.'
  }</p>
<form method="post" action="${tenantPath(tenant)}/exempt"><input type="hidden" name="exempt" value="${exempt ? 'no' : 'yes'}">
<p><button${!exempt && html` class="danger"`}>${exempt ? 'Charge it again' : 'Charge it nothing'}</button></p></form>`;
}
