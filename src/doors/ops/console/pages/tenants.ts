/** `/console/tenants`: find tenants. */
import { html } from '@boxoffice/pages/html';
import { TENANT_STATUSES, type TenantStatus } from '../../../../base/tenants/tenant.ts';
import { listTenants } from '../../../../money/overview/overview.ts';
import { type Answer, page } from '../../../consoles/answer.ts';
import { badge, emptyState, exact, field, named, select, timeOf } from '../../../consoles/components.ts';
import { choiceOf, textOf } from '../../../consoles/query.ts';
import { table } from '../../../consoles/table.ts';
import { SEARCH_MAX } from '../fields.ts';
import type { LoggedInCall } from '../route.ts';
import { tenantLink } from '../tenant-link.ts';

const TENANTS_MAX = 100;

export async function showTenants({ deps, query }: LoggedInCall): Promise<Answer> {
  const search = textOf(query, 'search', SEARCH_MAX);
  const status = choiceOf(query, 'status', TENANT_STATUSES);
  const found = await listTenants(deps.db, { status, search, limit: TENANTS_MAX });
  const choices = TENANT_STATUSES.map((value) => ({ value, text: value }));
  const body = html`<h1>Tenants</h1>
<p>Search by name or address, or by the id of a tenant, an API key or a payment.</p>
<form class="filters" method="get" action="/console/tenants">
${field({ name: 'search', label: 'Name, address or id', value: search })}
${select('status', 'Status', [{ value: '', text: 'All' }, ...choices], status ?? '')}
<button>Search</button></form>
${
  found.length === 0
    ? emptyState('No tenant fits.', html`<a href="/console/tenants">Show the newest ones</a>`)
    : table(
        'Tenants, the newest first',
        ['Tenant', 'Name', 'Address', 'Status', 'Since', 'Balance'],
        found.map((each) => [
          tenantLink(each.id),
          named(each.name),
          named(each.email),
          html`${statusBadge(each.status)}${each.exempt && html` ${badge('exempt')}`}`,
          timeOf(each.createdAt),
          exact(each.balance),
        ]),
        { numbers: ['Balance'] },
      )
}
${found.length === TENANTS_MAX && html`<p class="hint">These are the newest ${TENANTS_MAX}. Search for others.</p>`}`;
  return page({ title: 'Tenants', body });
}

export function statusBadge(status: TenantStatus) {
  const look = status === 'active' ? 'good' : status === 'pending' ? '' : 'bad';
  return badge(status, look);
}
