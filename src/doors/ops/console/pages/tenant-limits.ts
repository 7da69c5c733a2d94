/** `/console/tenants/t_.../limits`: what one tenant may hold or do at once. */
import { html } from '@boxoffice/pages/html';
import { operatorOf } from '../../../../access/operators/operator-session.ts';
import { parseReason, REASON_MAX } from '../../../../base/audit/reason.ts';
import { changeLimits } from '../../../../base/limits/change-limits.ts';
import { getLimits } from '../../../../base/tenants/get-tenant.ts';
import {
  LIMIT_MAX,
  LIMIT_MIN,
  type LimitedTenant,
  limitOf,
  parseLimit,
  type TenantLimit,
} from '../../../../base/tenants/limits.ts';
import type { Tenant } from '../../../../base/tenants/tenant.ts';
import { type Answer, done, type Page, page } from '../../../consoles/answer.ts';
import { capitalized, type Faults, field, named } from '../../../consoles/components.ts';
import { faultsOf, orWrong, readFields } from '../../../consoles/read-fields.ts';
import type { Form } from '../../../http/form.ts';
import { LIMIT_NAMES, type LimitName, TENANT_LIMITS } from '../../../tenant-limits.ts';
import { REASON_FAULT } from '../fields.ts';
import type { LoggedInCall } from '../route.ts';
import { tenantPath } from '../tenant-link.ts';
import { tenantOf } from './tenant.ts';

export async function showLimits(call: LoggedInCall): Promise<Answer> {
  const tenant = await tenantOf(call);
  return page(limitsPage(tenant, await getLimits(call.deps.db, tenant), undefined, {}));
}

const WRONG_LIMIT = `Give a whole number from ${LIMIT_MIN} to ${LIMIT_MAX}, or nothing.`;

/** An empty field: what every tenant has. */
export async function submitLimits(call: LoggedInCall): Promise<Answer> {
  const { deps, form, session } = call;
  const tenant = await tenantOf(call);
  const [set, reset]: [LimitName[], LimitName[]] = [[], []];
  for (const name of LIMIT_NAMES) ((form.get(name) ?? '').trim() === '' ? reset : set).push(name);
  try {
    const readLimit = (name: LimitName) => orWrong(parseLimit(form.get(name)!.trim()), WRONG_LIMIT);
    const { reason, limits } = readFields({
      reason: () => orWrong(parseReason(form.get('reason') ?? ''), REASON_FAULT),
      limits: () => readFields(Object.fromEntries(set.map((name) => [name, () => readLimit(name)]))),
    });
    await changeLimits(deps.db, operatorOf(session), tenant.id, { set: limits, reset, reason });
    return done(tenantPath(tenant), 'The limits are changed.');
  } catch (error) {
    const faults = faultsOf(error);
    if (!faults) throw error;
    return page(limitsPage(tenant, await getLimits(call.deps.db, tenant), form, faults), 400);
  }
}

function limitsPage(tenant: Tenant, limited: LimitedTenant, given: Form | undefined, faults: Faults): Page {
  const path = tenantPath(tenant);
  const usual = { ...limited, limits: null };
  const limitField = (limit: TenantLimit) => {
    const { name, unit } = limit;
    const changed = limited.limits?.[name];
    return field({
      name,
      label: capitalized(unit),
      value: given?.get(name) ?? changed?.toString(),
      hint: `Empty: ${limitOf(usual, limit)}, as for every tenant of its status.`,
      faults,
      input: html`inputmode="numeric"`,
    });
  };
  const body = html`<h1>Limits of ${named(tenant.name)}</h1>
<form method="post" action="${path}/limits" novalidate>
${TENANT_LIMITS.map(limitField)}
${field({ name: 'reason', label: 'Reason', value: given?.get('reason'), hint: 'For readers of the audit trail.', faults, input: html`maxlength="${REASON_MAX}" required` })}
<p><button class="primary">Change the limits</button></p></form>
<p><a href="${path}">Back to the tenant</a></p>`;
  return { title: 'Limits', body, layout: 'narrow' };
}
