/** `/console/audit`: who changed what, of all tenants and of the whole service. */
import { type Html, html } from '@boxoffice/pages/html';
import { listAuditOfAll } from '../../../../base/audit/list-audit.ts';
import { type Answer, page } from '../../../consoles/answer.ts';
import { renderChange } from '../../../consoles/audit-change.ts';
import { emptyState, type Faults, field, named, timeOf } from '../../../consoles/components.ts';
import { actionOf, periodOf, textOf } from '../../../consoles/query.ts';
import { readFields, readOrFaults } from '../../../consoles/read-fields.ts';
import { table } from '../../../consoles/table.ts';
import type { Form } from '../../../http/form.ts';
import { parseTenantFilter, SEARCH_MAX } from '../fields.ts';
import type { LoggedInCall } from '../route.ts';
import { tenantLink } from '../tenant-link.ts';

const LINES = 100;

export async function showAudit({ deps, query }: LoggedInCall): Promise<Answer> {
  const { value: asked, faults } = readOrFaults(() => parseAsked(query));
  if (faults) return page({ title: 'Audit', body: html`<h1>Audit</h1>${renderFilters(query, faults)}` }, 400);
  const found = await listAuditOfAll(deps.db, { ...asked, limit: LINES });
  const body = html`<h1>Audit</h1>
${renderFilters(query, {})}
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

function parseAsked(query: Form) {
  const { period, ...read } = readFields({
    tenant: () => parseTenantFilter(query),
    action: () => actionOf(query),
    subject: () => textOf(query, 'subject', SEARCH_MAX),
    period: () => periodOf(query),
  });
  return { ...read, ...period };
}

function renderFilters(query: Form, faults: Faults): Html {
  const value = (name: string) => query.get(name);
  return html`<form class="filters" method="get" action="/console/audit" novalidate>
${field({ name: 'tenant', label: 'Tenant', value: value('tenant'), faults })}
${field({ name: 'action', label: 'Action', value: value('action'), faults })}
${field({ name: 'subject', label: 'Id', value: value('subject'), faults })}
${field({ name: 'from', label: 'From (UTC)', value: value('from'), input: html`type="date"`, faults })}
${field({ name: 'to', label: 'Before (UTC)', value: value('to'), input: html`type="date"`, faults })}
<button>Filter</button></form>`;
}
