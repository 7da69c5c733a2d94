/** `/console/audit`: who changed what. */
import { type Html, type HtmlValue, html } from '@boxoffice/pages/html';
import { listMembers } from '../../../access/members/list-members.ts';
import { mayDo } from '../../../access/rights/abilities.ts';
import { type AuditEntry, isAuditId } from '../../../base/audit/audit-entry.ts';
import { listAudit } from '../../../base/audit/list-audit.ts';
import { type Answer, page } from '../../consoles/answer.ts';
import { actionField, actionText, TENANT_ACTIONS } from '../../consoles/audit-actions.ts';
import { renderChange } from '../../consoles/audit-change.ts';
import { type NamedEntries, nameEntries } from '../../consoles/audit-subjects.ts';
import { emptyState, type Faults, field, named, timeOf } from '../../consoles/components.ts';
import { actionOf, periodOf, queryOf, textOf } from '../../consoles/query.ts';
import { readFields, readOrFaults } from '../../consoles/read-fields.ts';
import { table } from '../../consoles/table.ts';
import type { Form } from '../../http/form.ts';
import { noSuchPage } from '../../http/no-such-page.ts';
import { sectionOf } from '../layout.ts';
import type { SessionCall } from '../route.ts';

const PAGE_SIZE = 50;
const SUBJECT_LENGTH_MAX = 200;
const FILTERS = ['action', 'subject', 'from', 'to'];

export async function showAudit(call: SessionCall): Promise<Answer> {
  const { deps, session, query } = call;
  const after = query.get('after');
  if (after !== undefined && !isAuditId(after)) throw noSuchPage();
  const { value: asked, faults } = readOrFaults(() => parseAsked(query));
  if (faults) {
    const body = html`<h1>Audit trail</h1>${renderFilters(query, faults)}`;
    return page({ title: 'Audit trail', body }, 400);
  }
  const found = await listAudit(deps.db, session.tenant, { ...asked, after, size: PAGE_SIZE });
  if (!found) throw noSuchPage();
  const members = mayDo(session.role, 'see_members') ? await listMembers(deps, session.tenant) : [];
  const emails = new Map(members.map(({ id, email }) => [id, email]));
  const { items, end } = found;
  const people = { tenantName: session.tenantName, members: emails };
  const linkTo = (path: string, text: HtmlValue) =>
    sectionOf(path.split('?')[0]!, { session }) ? html`<a href="${path}">${text}</a>` : html`${text}`;
  const names = await nameEntries({ db: deps.db, tenant: session.tenant, people, linkTo }, items);
  const body = html`<h1>Audit trail</h1>
<p>Who changed what, the newest first. Entries are never changed.</p>
${renderFilters(query, {})}
${
  items.length > 0
    ? renderEntries(items, emails, names)
    : emptyState('No entry fits.', html`<a href="/console/audit">Show all entries</a>`)
}
<p class="pages">${after !== undefined && html`<a href="/console/audit${queryOf(query, FILTERS)}">Newest</a>`}${
    end &&
    html`<a href="/console/audit${queryOf(query, FILTERS, { after: end.id })}" rel="next">Older entries</a>`
  }</p>`;
  return page({ title: 'Audit trail', body });
}

function parseAsked(query: Form) {
  const { period, ...read } = readFields({
    action: () => actionOf(query),
    subject: () => textOf(query, 'subject', SUBJECT_LENGTH_MAX),
    period: () => periodOf(query),
  });
  return { ...read, ...period };
}

function renderFilters(query: Form, faults: Faults): Html {
  const value = (name: string) => query.get(name);
  return html`<form class="filters" method="get" action="/console/audit" novalidate>
${actionField(query, TENANT_ACTIONS, faults)}
${field({ name: 'subject', label: 'Id of what was changed', value: value('subject'), faults })}
${field({ name: 'from', label: 'From (UTC)', value: value('from'), input: html`type="date"`, faults })}
${field({ name: 'to', label: 'Before (UTC)', value: value('to'), input: html`type="date"`, faults })}
<button>Filter</button></form>`;
}

function renderEntries(
  entries: readonly AuditEntry[],
  emails: ReadonlyMap<string, string>,
  { keyOf, subjectOf }: NamedEntries,
): Html {
  return table(
    'Entries, the newest first',
    ['Time', 'Who', 'Action', 'Of', 'Change'],
    entries.map((entry) => [
      timeOf(entry.at),
      html`<span>${renderActor(entry, emails, keyOf)}</span>`,
      actionText(entry.action),
      subjectOf(entry),
      // What it is about says it all.
      entry.action !== 'moderated' && renderChange(entry),
    ]),
  );
}

/** Which operator it was concerns the deployment alone. */
function renderActor(
  { actorKind, actorId, address }: AuditEntry,
  emails: ReadonlyMap<string, string>,
  keyOf: NamedEntries['keyOf'],
): Html {
  const from = address !== null && html` <span class="hint">from ${named(address)}</span>`;
  switch (actorKind) {
    case 'member':
      return html`${named(emails.get(actorId) ?? `${actorId} (removed)`)}${from}`;
    case 'key':
      return html`key ${keyOf(actorId)}${from}`;
    case 'operator':
      return html`operator`;
    case 'system':
      return html`the service: ${actorId}${from}`;
  }
}
