/** `/console/ledger`: every entry, with filters, also as CSV; `/console/charge`: how one charge came about. */
import { type Html, type HtmlValue, html } from '@boxoffice/pages/html';
import { notFound } from '../../../base/failure.ts';
import {
  type EntryQuery,
  entryOf,
  filterEntries,
  type ListedEntry,
} from '../../../money/ledger/list-entries.ts';
import { ENTRY_KINDS, type EntryKind, RECORD_TEXT_MAX } from '../../../money/ledger/posting.ts';
import { beginningOf, readLedgerPage } from '../../../money/ledger/walk-ledger.ts';
import { MOVEMENT_KINDS } from '../../../money/statements/statement.ts';
import { explainCharge } from '../../../money/usage/explain-charge.ts';
import { type Answer, page } from '../../consoles/answer.ts';
import {
  badge,
  emptyState,
  exact,
  type Faults,
  field,
  named,
  scrolling,
  select,
  timeOf,
} from '../../consoles/components.ts';
import { parseChoice } from '../../consoles/fields.ts';
import { periodOf, queryOf, textOf } from '../../consoles/query.ts';
import { faultsOf, readFields } from '../../consoles/read-fields.ts';
import { table } from '../../consoles/table.ts';
import type { Form } from '../../http/form.ts';
import { streamItems } from '../../http/item-stream.ts';
import { parsePlace, renderPlace } from '../../http/ledger-place.ts';
import { ENTRY_COLUMNS, ledgerStream } from '../../http/ledger-stream.ts';
import type { SessionCall } from '../route.ts';

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

export async function showLedger({ deps, session, query }: SessionCall): Promise<Answer> {
  const { tenant } = session;
  const start = parsePlace(textOf(query, 'cursor', RECORD_TEXT_MAX), tenant);
  let asked: EntryQuery;
  try {
    asked = parseAsked(query);
  } catch (error) {
    const faults = faultsOf(error);
    if (!faults) throw error;
    return page({ title: 'Ledger', body: html`<h1>Ledger</h1>${renderFilters(query, faults)}` }, 400);
  }
  const filter = await filterEntries(deps.db, tenant, asked);
  const { lines, place } = await readLedgerPage(deps.db, tenant, filter, start ?? beginningOf(filter), LINES);
  const next = place && queryOf(query, FILTERS, { cursor: renderPlace(tenant, place) });
  const isFiltered = FILTERS.some((name) => filterOf(query, name) !== undefined);
  const body = html`<h1>Ledger</h1>
${renderFilters(query, {})}
${lines.length > 0 ? renderEntries(lines.map(entryOf)) : renderEmpty(isFiltered, next !== undefined)}
${
  (lines.length > 0 || next !== undefined) &&
  html`<p><a href="/console/ledger.csv${queryOf(query, FILTERS)}">${isFiltered ? 'All entries that fit' : 'All entries'} as CSV</a></p>`
}
<p class="pages">${start && html`<a href="/console/ledger${queryOf(query, FILTERS)}">Newest</a>`}${
    next && html`<a href="/console/ledger${next}" rel="next">Older entries</a>`
  }</p>`;
  return page({ title: 'Ledger', body });
}

/** Every entry that the filters let through, however many there are. */
export async function sendLedger({ deps, session, query }: SessionCall): Promise<Answer> {
  const asked = parseAsked(query);
  const filter = await deps.calls.run(session, () => filterEntries(deps.db, session.tenant, asked));
  const stream = ledgerStream(deps.db, session.tenant, filter, entryOf);
  const chunks = await streamItems(deps, stream, {
    caller: session,
    columns: ENTRY_COLUMNS,
    type: 'text/csv',
  });
  return { kind: 'download', type: 'text/csv; charset=utf-8', chunks, saveAs: 'ledger.csv' };
}

function parseAsked(query: Form): EntryQuery {
  const { kind, period, ...read } = readFields({
    kind: () => parseKind(filterOf(query, 'kind')),
    room: () => filterOf(query, 'room'),
    participant: () => filterOf(query, 'participant'),
    period: () => periodOf(query),
  });
  return { kinds: kind, ...read, ...period };
}

function renderEmpty(isFiltered: boolean, hasMore: boolean): Html {
  if (hasMore) return emptyState('Nothing here yet.', 'Older entries were not looked at: go on.');
  return isFiltered
    ? emptyState('No entry fits.', html`<a href="/console/ledger">Show all entries</a>`)
    : emptyState(
        'The ledger is empty.',
        'Its first entry is your first payment. The sum of all entries is your balance.',
      );
}

function parseKind(text: string | undefined): readonly EntryKind[] | undefined {
  return text === undefined ? undefined : [parseChoice('kind', text, ENTRY_KINDS)];
}

/** One of the filters, which are all as long as a text of a record at most. */
function filterOf(query: Form, name: string): string | undefined {
  return textOf(query, name, RECORD_TEXT_MAX);
}

function renderFilters(query: Form, faults: Faults): Html {
  const kinds = ENTRY_KINDS.map((value) => ({ value, text: KIND_NAMES[value] }));
  const value = (name: string) => query.get(name);
  return html`<form class="filters" method="get" action="/console/ledger" novalidate>
${select('kind', 'Kind', [{ value: '', text: 'All' }, ...kinds], value('kind') ?? '', faults)}
${field({ name: 'room', label: 'Room', value: value('room'), faults })}
${field({ name: 'participant', label: 'Participant', value: value('participant'), faults })}
${field({ name: 'from', label: 'From (UTC)', value: value('from'), input: html`type="date"`, faults })}
${field({ name: 'to', label: 'Before (UTC)', value: value('to'), input: html`type="date"`, faults })}
<button>Filter</button></form>`;
}

function renderEntries(entries: readonly ListedEntry[]): Html {
  return table(
    'Entries, the newest first',
    ['Time', 'Kind', 'For', 'Participant or reason', 'Amount', 'Posting', 'Balance after it'],
    entries.map(cellsOf),
    { numbers: ['Amount', 'Posting', 'Balance after it'] },
  );
}

function cellsOf(entry: ListedEntry): HtmlValue[] {
  const { at, kind, reference, amount, capped, id, seq, balanceAfter } = entry;
  return [
    timeOf(at),
    KIND_NAMES[kind],
    renderFor(kind, reference),
    renderDetail(entry),
    html`<span>${capped && html`${badge('capped')} `}${exact(amount)}${
      id !== undefined &&
      html` <a href="/console/charge?id=${encodeURIComponent(id)}">Why?<span class="hidden"> Explain this charge.</span></a>`
    }</span>`,
    seq,
    exact(balanceAfter),
  ];
}

const PAID: readonly EntryKind[] = [...MOVEMENT_KINDS.payments, ...MOVEMENT_KINDS.reversals];
const BY_REASON: readonly EntryKind[] = [...MOVEMENT_KINDS.adjustments, ...MOVEMENT_KINDS.grants];

/** The room of a usage record. Of payments and what goes without one, the reference is an id for programs. */
export function renderFor(kind: EntryKind, reference: string | null): HtmlValue {
  if (PAID.includes(kind)) return html`<a href="/console/payments">Payments</a>`;
  return !BY_REASON.includes(kind) && reference !== null && named(reference);
}

/** Refunds and disputes have references of their own. */
function renderDetail({ kind, detail, payment }: ListedEntry): Html | false {
  if (kind === 'refund' || kind === 'dispute')
    return payment !== undefined && html`of <code>${payment}</code>`;
  return detail !== null && named(detail);
}

export async function showCharge({ deps, session, query }: SessionCall): Promise<Answer> {
  const id = filterOf(query, 'id');
  const found = id === undefined ? undefined : await explainCharge(deps, session.tenant, id);
  if (!found) throw notFound('usage record');
  const { record, explanation: how, posting } = found;
  const line = (name: string, value: Html | string | number) =>
    html`<tr><th scope="row">${name}</th><td class="number">${value}</td></tr>`;
  const body = html`<h1>How this charge came about</h1>
<p>Record <code>${record.id}</code>${record.room !== null && html` in the room ${named(record.room)}`}${
    record.participant !== null && html`, participant ${named(record.participant)}`
  }, charged ${timeOf(posting.at)}.</p>
${scrolling(
  'The calculation',
  html`<table><caption>The calculation</caption><tbody>
${line('Sent', `${how.egressGib} GiB`)}
${line('Platform fee for a GiB', exact(how.platformFeePerGib))}
${line('Fee, in micro-dollars', how.fee.decimal)}
${line(`Time as ${record.role} in ${record.tier}`, `${how.minutes} minutes`)}
${line('Ceiling for 1,000 minutes', exact(how.ceilingPer1000Minutes))}
${line('Ceiling, in micro-dollars', how.ceiling.decimal)}
${line(how.capped ? 'Price: the ceiling, which is smaller' : 'Price: the fee, which is smaller', how.price.decimal)}
${line('Fraction that earlier charges left over', how.carryBefore.decimal)}
${line('Fraction that is left for the next charge', how.carryAfter.decimal)}
${line('Charged', exact(record.amount))}</tbody></table>`,
  'slim',
)}
<p class="hint">Rate card ${how.rateVersion}, pricing rule ${how.ruleVersion}. <a href="/console/ledger">Back to the ledger</a></p>`;
  return page({ title: 'A charge', body });
}
