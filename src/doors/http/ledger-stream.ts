/**
 * All lines of a ledger that a filter lets through, as CSV or NDJSON.
 *
 * A stream reads as fast as its client does, a stretch at a time, and holds neither a transaction nor a connection of
 * the database in between. So a client that stops reading costs a socket, until its time limit ends it.
 */
import type { LimitedCaller } from '../../base/tenants/limited-caller.ts';
import { displayMicros } from '../../money/amount.ts';
import type { LedgerFilter, LedgerLine, LedgerPlace } from '../../money/ledger/ledger-line.ts';
import type { ListedEntry } from '../../money/ledger/list-entries.ts';
import { beginningOf, readStretch, walkLedger } from '../../money/ledger/walk-ledger.ts';
import type { Deps } from '../deps.ts';
import { renderCsv } from './csv.ts';

/** Large, because finding the records of the newest postings takes as long for few as for many. */
const STRETCH = 8_000;

export type StreamType = 'text/csv' | 'application/x-ndjson';

/** The value of each column. */
export type Columns<T> = Readonly<Record<string, (item: T) => unknown>>;

/** Of entries of the ledger. */
export const ENTRY_COLUMNS = {
  at: ({ at }: ListedEntry) => at.toISOString(),
  kind: ({ kind }: ListedEntry) => kind,
  micros: ({ amount }: ListedEntry) => amount,
  dollars: ({ amount }: ListedEntry) => displayMicros(amount).replace('$', ''),
  capped: ({ capped }: ListedEntry) => capped,
  reference: ({ reference }: ListedEntry) => reference ?? '',
  detail: ({ detail }: ListedEntry) => detail,
  id: ({ id }: ListedEntry) => id,
  payment: ({ payment }: ListedEntry) => payment,
  posting_seq: ({ seq }: ListedEntry) => seq,
  balance_after_micros: ({ balanceAfter }: ListedEntry) => balanceAfter,
} satisfies Columns<ListedEntry>;

export interface LineStream<T> {
  readonly caller: LimitedCaller;
  readonly filter: LedgerFilter;
  readonly render: (line: LedgerLine) => T;
  readonly columns: Columns<T>;
  readonly type: StreamType;
}

export async function* streamLines<T>(
  deps: Deps,
  { caller, filter, render, columns, type }: LineStream<T>,
): AsyncGenerator<string> {
  // Each stretch takes its turn among the calls of the tenant.
  const read = (place: LedgerPlace) =>
    deps.calls.run(caller, () => readStretch(deps.db, caller.tenant, filter, place, STRETCH));
  if (type === 'text/csv') yield renderCsv(Object.keys(columns));
  for await (const lines of walkLedger(read, beginningOf(filter))) {
    const items = lines.map(render);
    if (items.length === 0) continue;
    yield items.map((item) => renderItem(item, columns, type)).join('');
  }
}

function renderItem<T>(item: T, columns: Columns<T>, type: StreamType): string {
  const cells = Object.entries(columns).map(([name, value]) => ({ name, value: value(item) }));
  if (type === 'text/csv') return renderCsv(cells.map(({ value }) => value));
  const members = cells.filter(({ value }) => value !== undefined && value !== null);
  return `{${members.map(({ name, value }) => `"${name}":${renderJson(value)}`).join(',')}}\n`;
}

function renderJson(value: unknown): string {
  return typeof value === 'bigint' ? `${value}` : JSON.stringify(value);
}
