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
/** Rendered without a pause: about 64 KiB. */
const LINES_PER_PIECE = 400;

export type StreamType = 'text/csv' | 'application/x-ndjson';

/** The value of each column. */
export type Columns<T> = Readonly<Record<string, (item: T) => unknown>>;

/** The columns of entries of the ledger. */
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

/** Resolves once the first part is there: one that waits for its turn in vain is a failure, not an answer that breaks off. */
export async function streamLines<T>(
  deps: Deps,
  stream: LineStream<T>,
): Promise<AsyncGenerator<string | Buffer>> {
  const pieces = renderStream(deps, stream);
  const first = await pieces.next();
  return (async function* () {
    if (stream.type === 'text/csv') yield renderCsv(Object.keys(stream.columns));
    if (!first.done) yield first.value;
    yield* pieces;
  })();
}

async function* renderStream<T>(
  deps: Deps,
  { caller, filter, render, columns, type }: LineStream<T>,
): AsyncGenerator<Buffer> {
  const { tenant } = caller;
  // Each stretch takes its turn. Rendered at once, and a piece at a time, a client that stops reading holds 2 MB at most.
  const read = (place: LedgerPlace) =>
    deps.heavyReads.run(caller, async () => {
      const stretch = await readStretch(deps.db, tenant, filter, place, STRETCH);
      if (!stretch) return undefined;
      const renderLine = (line: LedgerLine) => renderItem(render(line), columns, type);
      const lines = await deps.heavyReads.inSlices(tenant, renderPieces(stretch.lines, renderLine));
      return { lines, place: stretch.place };
    });
  for await (const pieces of walkLedger(read, beginningOf(filter))) yield* pieces;
}

/** Outside the heap, where strings of this size would stay for long. */
function* renderPieces(
  lines: readonly LedgerLine[],
  renderLine: (line: LedgerLine) => string,
): Generator<void, Buffer[]> {
  const pieces: Buffer[] = [];
  for (let at = 0; at < lines.length; at += LINES_PER_PIECE) {
    pieces.push(
      Buffer.from(
        lines
          .slice(at, at + LINES_PER_PIECE)
          .map(renderLine)
          .join(''),
      ),
    );
    yield;
  }
  return pieces;
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
