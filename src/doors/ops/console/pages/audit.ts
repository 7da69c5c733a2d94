/** `/console/audit`: who changed what, of all tenants and of the whole service. */
import { html } from '@boxoffice/pages/html';
import { listAuditOfAll } from '../../../../base/audit/list-audit.ts';
import { renderTenantId } from '../../../../base/tenants/tenant.ts';
import { type Answer, page } from '../../../consoles/answer.ts';
import { renderChange } from '../../../consoles/audit-change.ts';
import { emptyState, field, named, timeOf } from '../../../consoles/components.ts';
import { actionOf, periodOf, textOf } from '../../../consoles/query.ts';
import { table } from '../../../consoles/table.ts';
import { parseTenantFilter, SEARCH_MAX } from '../fields.ts';
import type { LoggedInCall } from '../route.ts';
import { tenantLink } from '../tenant-link.ts';

const LINES = 100;

export async function showAudit({ deps, query }: LoggedInCall): Promise<Answer> {
  const tenant = parseTenantFilter(query);
  const action = actionOf(query);
  const subject = textOf(query, 'subject', SEARCH_MAX);
  const { from, to } = periodOf(query);
  const found = await listAuditOfAll(deps.db, { tenant, action, subject, from, to, limit: LINES });
  const body = html`<h1>Audit</h1>
<form class="filters" method="get" action="/console/audit">
${field({ name: 'tenant', label: 'Tenant', value: tenant === undefined ? '' : renderTenantId(tenant) })}
${field({ name: 'action', label: 'Action', value: action })}
${field({ name: 'subject', label: 'Id', value: subject })}
${field({ name: 'from', label: 'From (UTC)', value: query.get('from'), input: html`type="date"` })}
${field({ name: 'to', label: 'Before (UTC)', value: query.get('to'), input: html`type="date"` })}
<button>Filter</button></form>
${
  found.length === 0
    ? emptyState('No entry fits.', html`<a href="/console/audit">Show the newest ones</a>`)
    : table(
        'Entries of the audit trail, the newest first',
        ['Time', 'Tenant', 'Who', 'Action', 'Of', 'Change'],
        found.map((each) => [
          timeOf(each.at),
          tenantLink(each.tenant),
          html`<span>${each.actorKind} ${named(each.actorId)}${each.address !== null && html` <span class="hint">from ${named(each.address)}</span>`}</span>`,
          each.action,
          each.subject !== null && html`<code>${each.subject}</code>`,
          renderChange(each),
        ]),
      )
}
${found.length === LINES && html`<p class="hint">These are the newest ${LINES}. Choose an earlier period for others.</p>`}`;
  return page({ title: 'Audit', body });
}
