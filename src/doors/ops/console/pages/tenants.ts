/** `/console/tenants`: find tenants. */
import { type Html, html } from '@boxoffice/pages/html';
import { TENANT_STATUSES, type TenantStatus } from '../../../../base/tenants/tenant.ts';
import { listTenants } from '../../../../money/overview/overview.ts';
import { type Answer, page, redirect } from '../../../consoles/answer.ts';
import {
  badge,
  emptyState,
  exact,
  type Faults,
  field,
  named,
  select,
  timeOf,
} from '../../../consoles/components.ts';
import { choiceOf, textOf } from '../../../consoles/query.ts';
import { readFields, readOrFaults } from '../../../consoles/read-fields.ts';
import { table } from '../../../consoles/table.ts';
import type { Form } from '../../../http/form.ts';
import { SEARCH_MAX } from '../fields.ts';
import type { LoggedInCall } from '../route.ts';
import { tenantLink, tenantPath } from '../tenant-link.ts';

const TENANTS_MAX = 100;

export async function showTenants({ deps, query }: LoggedInCall): Promise<Answer> {
  const { value: asked, faults } = readOrFaults(() => parseAsked(query));
  if (faults)
    return page({ title: 'Tenants', body: html`<h1>Tenants</h1>${renderFilters(query, faults)}` }, 400);
  const found = await listTenants(deps.db, { ...asked, limit: TENANTS_MAX });
  // The field for it is on every page, so most searches come from elsewhere.
  const [only, ...others] = found;
  if (asked.search !== undefined && only && others.length === 0) return redirect(tenantPath(only));
  const body = html`<h1>Tenants</h1>
${renderFilters(query, {})}
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

function parseAsked(query: Form) {
  return readFields({
    search: () => textOf(query, 'search', SEARCH_MAX),
    status: () => choiceOf(query, 'status', TENANT_STATUSES),
  });
}

function renderFilters(query: Form, faults: Faults): Html {
  const choices = TENANT_STATUSES.map((value) => ({ value, text: value }));
  return html`<p>Search by name or address, also that of a member, or by the id of a tenant, a key or credential, a payment, a checkout, an automatic
top-up, a webhook or a session in a room.</p>
<form class="filters" method="get" action="/console/tenants" novalidate>
${field({ name: 'search', label: 'Name, address or id', value: query.get('search'), faults })}
${select('status', 'Status', [{ value: '', text: 'All' }, ...choices], query.get('status') ?? '', faults)}
<button>Search</button></form>`;
}

export function statusBadge(status: TenantStatus) {
  const look = status === 'active' ? 'good' : status === 'pending' ? '' : 'bad';
  return badge(status, look);
}
