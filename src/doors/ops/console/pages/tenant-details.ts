/** `/console/tenants/t_.../details`: the name of a tenant, and what its statements show of it. */
import { type Html, html } from '@boxoffice/pages/html';
import { operatorOf } from '../../../../access/operators/operator-session.ts';
import { renameTenant } from '../../../../access/operators/rename-tenant.ts';
import { parseReason, REASON_MAX } from '../../../../base/audit/reason.ts';
import { inTransaction } from '../../../../base/db/transaction.ts';
import { parseLine } from '../../../../base/lib/one-line.ts';
import { TENANT_NAME_LENGTH_MAX, type Tenant } from '../../../../base/tenants/tenant.ts';
import { NO_DETAILS } from '../../../../money/statements/billing-details.ts';
import { getBillingDetails } from '../../../../money/statements/get-billing-details.ts';
import { setBillingDetails } from '../../../../money/statements/set-billing-details.ts';
import { type Answer, done, page } from '../../../consoles/answer.ts';
import { DETAILS_FIELDS, detailsFields, parseDetailsForm } from '../../../consoles/billing-details-form.ts';
import { type Faults, field, named } from '../../../consoles/components.ts';
import { faultsOf, orWrong, readFields } from '../../../consoles/read-fields.ts';
import type { Form } from '../../../http/form.ts';
import { REASON_FAULT } from '../fields.ts';
import { readNote } from '../read-note.ts';
import type { LoggedInCall } from '../route.ts';
import { tenantPath } from '../tenant-link.ts';
import { tenantOf } from './tenant.ts';

const NAME_FAULT = `Give a name of 1 to ${TENANT_NAME_LENGTH_MAX} characters.`;

export const TENANT_DETAILS_FIELDS = ['tenant_name', ...DETAILS_FIELDS, 'reason'];

export async function showDetails(call: LoggedInCall): Promise<Answer> {
  return detailsPage(call, await tenantOf(call), undefined, {});
}

/** The name and all details are those of the form from then on. */
export async function submitDetails(call: LoggedInCall): Promise<Answer> {
  const { deps, form, session } = call;
  const tenant = await tenantOf(call);
  try {
    const { name, details, reason } = readForm(form);
    const actor = operatorOf(session);
    await inTransaction(deps.db, async (tx) => {
      await renameTenant(tx, actor, tenant.id, { name, reason });
      await setBillingDetails(tx, actor, tenant.id, details, reason);
    });
  } catch (error) {
    const faults = faultsOf(error);
    if (!faults) throw error;
    return detailsPage(call, tenant, form, faults, 400);
  }
  return done(tenantPath(tenant), 'The name and the billing details are saved.');
}

function readForm(form: Form) {
  const { tenant_name: name, ...read } = readFields({
    tenant_name: () => orWrong(parseLine(form.get('tenant_name') ?? '', TENANT_NAME_LENGTH_MAX), NAME_FAULT),
    details: () => parseDetailsForm(form),
    reason: () => orWrong(parseReason(form.get('reason') ?? ''), REASON_FAULT),
  });
  return { name, ...read };
}

async function detailsPage(
  { deps }: LoggedInCall,
  tenant: Tenant,
  typed: Form | undefined,
  faults: Faults,
  status = 200,
): Promise<Answer> {
  // A refused form shows nothing that the operator did not type: only the page itself is noted as a reading.
  const stored = typed ? NO_DETAILS : await getBillingDetails(deps.db, tenant.id);
  const body = html`<h1>Name and billing details of ${named(tenant.name)}</h1>
<p>Its statements show them from now on. Those of months that are over keep what they had; if they had no billing details, they show the
first ones that are given.</p>
${renderForm(tenant, typed, faults, detailsFields({ stored, typed, faults }))}
${readNote(tenant)}`;
  return page({ title: 'Name and billing details', body, layout: 'narrow' }, status);
}

function renderForm(tenant: Tenant, typed: Form | undefined, faults: Faults, details: Html): Html {
  return html`<form method="post" action="${tenantPath(tenant)}/details" novalidate>
${field({
  name: 'tenant_name',
  label: 'Name of the tenant',
  value: typed?.get('tenant_name') ?? tenant.name,
  faults,
  input: html`maxlength="${TENANT_NAME_LENGTH_MAX}" autocomplete="off" required`,
})}
${details}
${field({
  name: 'reason',
  label: 'Reason',
  value: typed?.get('reason'),
  hint: 'The tenant reads it in its audit trail.',
  faults,
  input: html`maxlength="${REASON_MAX}" required`,
})}
<p><button class="primary">Save</button></p></form>`;
}
