/** `/console/conflicts`: ids that relays reported again with other values. Only the first report was charged. */
import { html } from '@boxoffice/pages/html';
import { renderTenantId } from '../../../../base/tenants/tenant.ts';
import { listConflicts, listConflictTenants } from '../../../../money/usage/list-conflicts.ts';
import { type Answer, page } from '../../../consoles/answer.ts';
import { emptyState, named, timeOf } from '../../../consoles/components.ts';
import { describeConflict } from '../../../consoles/describe-conflict.ts';
import { table } from '../../../consoles/table.ts';
import { parseTenantFilter } from '../fields.ts';
import type { LoggedInCall } from '../route.ts';
import { tenantLink } from '../tenant-link.ts';

const LINES = 100;

export async function showConflicts({ deps, query }: LoggedInCall): Promise<Answer> {
  const tenant = parseTenantFilter(query);
  if (tenant !== undefined) {
    const { conflicts } = await listConflicts(deps.db, tenant, { size: LINES });
    const body = html`<h1>Conflicts of a tenant</h1>
<p>${tenantLink(tenant)}: ids that came again with other values. Only the first report was charged.</p>
${table(
  'Conflicts, the newest first',
  ['Record', 'First', 'Last', 'Charged, then reported', 'Times'],
  conflicts.map((each) => [
    named(each.id),
    timeOf(each.firstAt),
    timeOf(each.lastAt),
    named(describeConflict(each)),
    each.times,
  ]),
  { numbers: ['Times'] },
)}
<p><a href="/console/conflicts">All tenants</a></p>`;
    return page({ title: `Conflicts of ${renderTenantId(tenant)}`, body });
  }
  const found = await listConflictTenants(deps.db, LINES);
  const body = html`<h1>Conflicts</h1>
<p>Tenants whose relays reported an id again with other values. Only the first report was charged, so such a relay loses money.</p>
${
  found.length === 0
    ? emptyState('There are none.', 'Every id was reported with one set of values.')
    : table(
        'Tenants with conflicts, the newest first',
        ['Tenant', 'Last', 'Ids', 'Times'],
        found.map((each) => [
          html`<a href="/console/conflicts?tenant=${renderTenantId(each.tenant)}"><code>${renderTenantId(each.tenant)}</code></a>`,
          timeOf(each.lastAt),
          each.ids,
          each.times,
        ]),
        { numbers: ['Ids', 'Times'] },
      )
}`;
  return page({ title: 'Conflicts', body });
}
