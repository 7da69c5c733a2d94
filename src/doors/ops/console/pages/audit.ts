/** `/console/audit`: who changed what, of all tenants and of the whole service. */
import { html } from '@boxoffice/pages/html';
import { isAction } from '../../../../base/audit/audit-entry.ts';
import { listAuditOfAll } from '../../../../base/audit/list-audit.ts';
import { invalidField } from '../../../../base/failure.ts';
import { renderTenantId } from '../../../../base/tenants/tenant.ts';
import { parsePeriod } from '../../../http/period.ts';
import { type Answer, page } from '../../../pages/answer.ts';
import { renderChange } from '../../../pages/audit-change.ts';
import { emptyState, field, named, timeOf } from '../../../pages/components.ts';
import { parseSearch, parseTenantFilter } from '../fields.ts';
import type { LoggedInCall } from '../route.ts';
import { table, tenantLink } from '../table.ts';

const LINES = 100;

export async function showAudit({ deps, query }: LoggedInCall): Promise<Answer> {
  const tenant = parseTenantFilter(query.get('tenant'));
  const action = parseAction(query.get('action'));
  const subject = parseSearch('subject', query.get('subject'));
  const [fromText, toText] = [parseSearch('from', query.get('from')), parseSearch('to', query.get('to'))];
  const { from, to } = parsePeriod({
    ...(fromText !== undefined && { from: fromText }),
    ...(toText !== undefined && { to: toText }),
  });
  const found = await listAuditOfAll(deps.db, { tenant, action, subject, from, to, limit: LINES });
  const body = html`<h1>Audit</h1>
<form class="filters" method="get" action="/console/audit">
${field({ name: 'tenant', label: 'Tenant', value: tenant === undefined ? '' : renderTenantId(tenant) })}
${field({ name: 'action', label: 'Action', value: action })}
${field({ name: 'subject', label: 'Id', value: subject })}
${field({ name: 'from', label: 'From (UTC)', value: fromText, input: html`type="date"` })}
${field({ name: 'to', label: 'Before (UTC)', value: toText, input: html`type="date"` })}
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

function parseAction(text: string | undefined): string | undefined {
  const action = parseSearch('action', text);
  if (action === undefined) return undefined;
  if (!isAction(action)) {
    throw invalidField('action', 'must be words in lower case, such as key_revoked');
  }
  return action;
}
