/** `/console/tenants`: find tenants. */
import { type Html, html } from '@boxoffice/pages/html';
import { invalidField } from '../../../../base/failure.ts';
import { TENANT_STATUSES, type TenantStatus } from '../../../../base/tenants/tenant.ts';
import { listTenants, type TenantLine } from '../../../../money/overview/overview.ts';
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
import { choiceOf, queryOf, textOf } from '../../../consoles/query.ts';
import { readFields, readOrFaults } from '../../../consoles/read-fields.ts';
import { table } from '../../../consoles/table.ts';
import type { Form } from '../../../http/form.ts';
import { SEARCH_MAX } from '../fields.ts';
import type { LoggedInCall } from '../route.ts';
import { tenantLink, tenantPath } from '../tenant-link.ts';

const PATH = '/console/tenants';
const FILTERS = ['search', 'status'] as const;
const TENANTS_MAX = 100;
/** As far as pages go. */
const SKIP_MAX = 1_000_000;

export async function showTenants({ deps, query }: LoggedInCall): Promise<Answer> {
  const { value: asked, faults } = readOrFaults(() => parseAsked(query));
  if (faults)
    return page({ title: 'Tenants', body: html`<h1>Tenants</h1>${renderFilters(query, faults)}` }, 400);
  const skip = parseSkip(query.get('skip') ?? '0');
  const rows = await listTenants(deps.db, { ...asked, skip, limit: TENANTS_MAX + 1 });
  const found = rows.slice(0, TENANTS_MAX);
  // The field for it is on every page, so most searches come from elsewhere.
  const [only, ...others] = found;
  if (asked.search !== undefined && skip === 0 && only && others.length === 0)
    return redirect(tenantPath(only));
  const body = html`<h1>Tenants</h1>
${renderFilters(query, {})}
${found.length === 0 ? emptyState('No tenant fits.', html`<a href="${PATH}">Show the newest ones</a>`) : renderFound(found, asked.search !== undefined)}
${renderPages(query, skip, rows.length > TENANTS_MAX)}`;
  return page({ title: 'Tenants', body });
}

function renderFound(found: readonly TenantLine[], isSearch: boolean): Html {
  const order = isSearch ? 'those that fit exactly first, then those that have paid' : 'the newest first';
  return table(
    `Tenants, ${order}`,
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
  );
}

/** Says that not all are shown, since the tenant that is wanted may be among the others. */
function renderPages(query: Form, skip: number, hasMore: boolean): Html | undefined {
  if (!hasMore && skip === 0) return undefined;
  const at = (from: number) => `${PATH}${queryOf(query, FILTERS, from > 0 ? { skip: String(from) } : {})}`;
  return html`${hasMore && html`<p class="hint">More tenants ${query.get('search')?.trim() ? 'fit' : 'follow'} than these ${TENANTS_MAX}.</p>`}
<p class="pages">${skip > 0 && html`<a href="${at(Math.max(0, skip - TENANTS_MAX))}" rel="prev">Previous page</a>`}${
    hasMore && html`<a href="${at(skip + TENANTS_MAX)}" rel="next">Next page</a>`
  }</p>`;
}

function parseAsked(query: Form) {
  return readFields({
    search: () => textOf(query, 'search', SEARCH_MAX),
    status: () => choiceOf(query, 'status', TENANT_STATUSES),
  });
}

/** Fails with `invalid_request`. */
function parseSkip(text: string): number {
  if (!/^\d{1,7}$/.test(text) || Number(text) > SKIP_MAX)
    throw invalidField('skip', `must be a whole number up to ${SKIP_MAX}`);
  return Number(text);
}

function renderFilters(query: Form, faults: Faults): Html {
  const choices = TENANT_STATUSES.map((value) => ({ value, text: value }));
  return html`<p>Search by name or address, also that of a member, or by any id that tenants see, such as that of a key, a payment, a webhook or a room.</p>
<form class="filters" method="get" action="${PATH}" novalidate>
${field({ name: 'search', label: 'Name, address or id', value: query.get('search'), faults })}
${select('status', 'Status', [{ value: '', text: 'All' }, ...choices], query.get('status') ?? '', faults)}
<button>Search</button></form>`;
}

export function statusBadge(status: TenantStatus) {
  const look = status === 'active' ? 'good' : status === 'pending' ? '' : 'bad';
  return badge(status, look);
}
