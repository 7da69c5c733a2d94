/** The ledger of a tenant, with filters and a page at a time, in both consoles. */
import { type Html, type HtmlValue, html } from '@boxoffice/pages/html';
import type { Db } from '../../base/db/pool.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import {
  type EntryQuery,
  entryOf,
  filterEntries,
  type ListedEntry,
} from '../../money/ledger/list-entries.ts';
import { ENTRY_KINDS, type EntryKind, RECORD_TEXT_MAX } from '../../money/ledger/posting.ts';
import { beginningOf, readLedgerPage } from '../../money/ledger/walk-ledger.ts';
import { MOVEMENT_KINDS } from '../../money/statements/statement.ts';
import type { Form } from '../http/form.ts';
import { parsePlace, renderPlace } from '../http/ledger-place.ts';
import { type Answer, page } from './answer.ts';
import { badge, emptyState, exact, type Faults, field, named, select, timeOf } from './components.ts';
import { csvLinks } from './csv-links.ts';
import { parseChoice } from './fields.ts';
import { periodOf, queryOf, textOf } from './query.ts';
import { readFields, readOrFaults } from './read-fields.ts';
import { table } from './table.ts';

const LINES = 50;

export const KIND_NAMES: Readonly<Record<EntryKind, string>> = {
  usage: 'Usage',
  top_up: 'Payment',
  auto_top_up: 'Automatic top-up',
  refund: 'Refund',
  dispute: 'Dispute',
  adjustment: 'Adjustment',
  correction: 'Correction of usage',
  grant: 'Grant',
  grant_expired: 'Grant expired',
  grant_voided: 'Grant voided',
};

const FILTERS = ['kind', 'room', 'participant', 'from', 'to'] as const;

const SHARED_POSTINGS = html`<p class="hint">Entries of one posting were charged at once: each shows the balance after all of them.</p>`;

/** What differs between the consoles. */
export interface LedgerSite {
  readonly path: string;
  /** Without it, the name of the page. */
  readonly of?: HtmlValue;
  /** Where payments are listed. */
  readonly paymentsPath: string;
  /** Where all entries that fit are a file. */
  readonly csvPath?: string;
  /** The page that explains a charge, without the query that names it. */
  readonly chargePath?: string;
  /** Shown if the tenant has no entry. */
  readonly empty: Html;
  /** What stands at the end of the page. */
  readonly below?: Html;
}

export async function showEntries(
  { db, tenant, query }: { readonly db: Db; readonly tenant: TenantId; readonly query: Form },
  site: LedgerSite,
): Promise<Answer> {
  const start = parsePlace(textOf(query, 'cursor', RECORD_TEXT_MAX), tenant);
  const heading = html`<h1>Ledger${site.of && html` of ${site.of}`}</h1>`;
  const { value: asked, faults } = readOrFaults(() => parseEntryQuery(query));
  if (faults)
    return page({ title: 'Ledger', body: html`${heading}${renderFilters(site, query, faults)}` }, 400);
  const filter = await filterEntries(db, tenant, asked);
  const { lines, place } = await readLedgerPage(db, tenant, filter, start ?? beginningOf(filter), LINES);
  const next = place && queryOf(query, FILTERS, { cursor: renderPlace(tenant, place) });
  const isFiltered = FILTERS.some((name) => filterOf(query, name) !== undefined);
  const hasMore = next !== undefined;
  const { path, csvPath } = site;
  const body = html`${heading}
${renderFilters(site, query, {})}
${lines.length > 0 ? renderEntries(site, lines.map(entryOf)) : renderEmpty(site, isFiltered, hasMore)}
${new Set(lines.map(({ posting }) => posting.seq)).size < lines.length && SHARED_POSTINGS}
${
  csvPath !== undefined &&
  (lines.length > 0 || hasMore) &&
  html`<p>${csvLinks(`${csvPath}${queryOf(query, FILTERS)}`, isFiltered ? 'All entries that fit' : 'All entries')}</p>`
}
<p class="pages">${start && html`<a href="${path}${queryOf(query, FILTERS)}">Newest</a>`}${
    hasMore && html`<a href="${path}${next}" rel="next">Older entries</a>`
  }</p>
${site.below}`;
  return page({ title: 'Ledger', body });
}

/** Which entries the filters let through. Fails with `invalid_request`. */
export function parseEntryQuery(query: Form): EntryQuery {
  const { kind, period, ...read } = readFields({
    kind: () => parseKind(filterOf(query, 'kind')),
    room: () => filterOf(query, 'room'),
    participant: () => filterOf(query, 'participant'),
    period: () => periodOf(query),
  });
  return { kinds: kind, ...read, ...period };
}

function renderEmpty({ path, empty }: LedgerSite, isFiltered: boolean, hasMore: boolean): Html {
  if (hasMore) return emptyState('Nothing here yet.', 'Older entries were not looked at: go on.');
  return isFiltered ? emptyState('No entry fits.', html`<a href="${path}">Show all entries</a>`) : empty;
}

function parseKind(text: string | undefined): readonly EntryKind[] | undefined {
  return text === undefined ? undefined : [parseChoice('kind', text, ENTRY_KINDS)];
}

/** One of the filters, which are all as long as a text of a record at most. */
function filterOf(query: Form, name: string): string | undefined {
  return textOf(query, name, RECORD_TEXT_MAX);
}

function renderFilters({ path }: LedgerSite, query: Form, faults: Faults): Html {
  const kinds = ENTRY_KINDS.map((value) => ({ value, text: KIND_NAMES[value] }));
  const value = (name: string) => query.get(name);
  return html`<form class="filters" method="get" action="${path}" novalidate>
${select('kind', 'Kind', [{ value: '', text: 'All' }, ...kinds], value('kind') ?? '', faults)}
${field({ name: 'room', label: 'Room', value: value('room'), faults })}
${field({ name: 'participant', label: 'Participant', value: value('participant'), faults })}
${field({ name: 'from', label: 'From (UTC)', value: value('from'), input: html`type="date"`, faults })}
${field({ name: 'to', label: 'Before (UTC)', value: value('to'), input: html`type="date"`, faults })}
<button>Filter</button></form>`;
}

function renderEntries(site: LedgerSite, entries: readonly ListedEntry[]): Html {
  return table(
    'Entries, the newest first',
    ['Time', 'Kind', 'For', 'Participant or reason', 'Amount', 'Posting', 'Balance after it'],
    entries.map((each) => cellsOf(site, each)),
    { numbers: ['Amount', 'Posting', 'Balance after it'] },
  );
}

function cellsOf({ paymentsPath, chargePath }: LedgerSite, entry: ListedEntry): HtmlValue[] {
  const { at, kind, reference, amount, capped, id, seq, balanceAfter } = entry;
  return [
    timeOf(at),
    KIND_NAMES[kind],
    renderFor(kind, reference, paymentsPath),
    renderDetail(entry),
    html`<span>${capped && html`${badge('capped')} `}${exact(amount)}${
      id !== undefined &&
      chargePath !== undefined &&
      html` <a href="${chargePath}?id=${encodeURIComponent(id)}">Why?<span class="hidden"> Explain this charge.</span></a>`
    }</span>`,
    seq,
    exact(balanceAfter),
  ];
}

const PAID: readonly EntryKind[] = [...MOVEMENT_KINDS.payments, ...MOVEMENT_KINDS.reversals];
const BY_REASON: readonly EntryKind[] = [...MOVEMENT_KINDS.adjustments, ...MOVEMENT_KINDS.grants];

/** The room of a usage record. Of payments and what goes without one, the reference is an id for programs. */
export function renderFor(kind: EntryKind, reference: string | null, paymentsPath: string): HtmlValue {
  if (PAID.includes(kind)) return html`<a href="${paymentsPath}">Payments</a>`;
  return !BY_REASON.includes(kind) && reference !== null && named(reference);
}

/** Refunds and disputes have references of their own. */
function renderDetail({ kind, detail, payment }: ListedEntry): Html | false {
  if (kind === 'refund' || kind === 'dispute')
    return payment !== undefined && html`of <code>${payment}</code>`;
  return detail !== null && named(detail);
}
