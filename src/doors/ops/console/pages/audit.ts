/** `/console/audit`: who changed what, of all tenants and of the whole service. */
import { type Html, type HtmlValue, html } from '@boxoffice/pages/html';
import type { AuditEntry } from '../../../../base/audit/audit-entry.ts';
import { listAuditOfAll } from '../../../../base/audit/list-audit.ts';
import type { Db } from '../../../../base/db/pool.ts';
import type { TenantId } from '../../../../base/tenants/tenant.ts';
import { type Answer, page } from '../../../consoles/answer.ts';
import { actionField, actionText, SERVICE_ACTIONS, TENANT_ACTIONS } from '../../../consoles/audit-actions.ts';
import { renderChange } from '../../../consoles/audit-change.ts';
import { type NamedEntries, nameEntries } from '../../../consoles/audit-subjects.ts';
import { emptyState, type Faults, field, named, timeOf } from '../../../consoles/components.ts';
import { actionOf, periodOf, textOf } from '../../../consoles/query.ts';
import { readFields, readOrFaults } from '../../../consoles/read-fields.ts';
import { table } from '../../../consoles/table.ts';
import type { Form } from '../../../http/form.ts';
import { parseTenantFilter, SEARCH_MAX } from '../fields.ts';
import type { LoggedInCall } from '../route.ts';
import { tenantLink, tenantPath } from '../tenant-link.ts';

const LINES = 100;

/** What operators see of a tenant, under its page as under its own console. */
const TENANT_PAGE = /^\/console(\/(?:ledger|members|room-sessions|webhooks)(?:[/?].*)?)$/;

export async function showAudit({ deps, query }: LoggedInCall): Promise<Answer> {
  const { value: asked, faults } = readOrFaults(() => parseAsked(query));
  if (faults) return page({ title: 'Audit', body: html`<h1>Audit</h1>${renderFilters(query, faults)}` }, 400);
  const found = await listAuditOfAll(deps.db, { ...asked, limit: LINES });
  const namesOf = await nameByTenant(deps.db, found);
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
          html`<span>${renderActor(each, namesOf(each))}${each.address !== null && html` <span class="hint">from ${named(each.address)}</span>`}</span>`,
          actionText(each.action),
          namesOf(each)?.subjectOf(each) ?? (each.subject !== null && html`<code>${each.subject}</code>`),
          renderChange(each),
        ]),
      )
}
${found.length === LINES && html`<p class="hint">These are the newest ${LINES}. Choose an earlier period for others.</p>`}`;
  return page({ title: 'Audit', body });
}

type NamesOf = (entry: AuditEntry) => NamedEntries | undefined;

/**
 * Names of what the entries of each tenant are about. People are not named: who reads members or rooms of a tenant is noted, and a
 * look at the trail is not.
 */
async function nameByTenant(db: Db, entries: readonly AuditEntry[]): Promise<NamesOf> {
  const names = new Map<TenantId, NamedEntries>();
  for (const [tenant, its] of Map.groupBy(entries, (each) => each.tenant)) {
    if (tenant === null) continue;
    const linkTo = (path: string, text: HtmlValue) => {
      const [, below] = TENANT_PAGE.exec(path) ?? [];
      return below === undefined
        ? html`${text}`
        : html`<a href="${tenantPath({ id: tenant })}${below}">${text}</a>`;
    };
    names.set(tenant, await nameEntries({ db, tenant, linkTo }, its));
  }
  return ({ tenant }) => (tenant === null ? undefined : names.get(tenant));
}

function renderActor({ actorKind, actorId }: AuditEntry, names: NamedEntries | undefined): Html {
  const who = actorKind === 'key' && names ? names.keyOf(actorId) : named(actorId);
  return html`${actorKind} ${who}`;
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
${actionField(query, [...TENANT_ACTIONS, ...SERVICE_ACTIONS], faults)}
${field({ name: 'subject', label: 'Id', value: value('subject'), faults })}
${field({ name: 'from', label: 'From (UTC)', value: value('from'), input: html`type="date"`, faults })}
${field({ name: 'to', label: 'Before (UTC)', value: value('to'), input: html`type="date"`, faults })}
<button>Filter</button></form>`;
}
