/**
 * All items of a list, as CSV or NDJSON.
 *
 * A stream reads as fast as its client does, a stretch at a time, and holds neither a transaction nor a connection of
 * the database in between. So a client that stops reading costs a socket, until its time limit ends it.
 */
import type { LimitedCaller } from '../../base/tenants/limited-caller.ts';
import type { Deps } from '../deps.ts';
import { renderCsv, type SeparatorName } from './csv.ts';

/** Rendered without a pause: about 64 KiB. */
const ITEMS_PER_PIECE = 400;

export type StreamType = 'text/csv' | 'application/x-ndjson';

/** The value of each column. */
export type Columns<T> = Readonly<Record<string, (item: T) => unknown>>;

/** Items, and where those after them begin; `undefined`: there are no more. */
export interface ItemStretch<Item, Place> {
  readonly items: readonly Item[];
  readonly next: Place | undefined;
}

/** `Item` is what is read, `T` what the columns show of it. */
export interface ItemStream<Item, Place, T> {
  readonly start: Place;
  readonly read: (place: Place) => Promise<ItemStretch<Item, Place>>;
  readonly render: (item: Item) => T;
}

interface Streaming<T> {
  readonly caller: LimitedCaller;
  readonly columns: Columns<T>;
  readonly type: StreamType;
  /** The separator of CSV; default: commas. */
  readonly separator?: SeparatorName | undefined;
}

/** Resolves once the first part is there: one that waits for its turn in vain is a failure, not an answer that breaks off. */
export async function streamItems<Item, Place, T>(
  deps: Deps,
  stream: ItemStream<Item, Place, T>,
  streaming: Streaming<T>,
): Promise<AsyncGenerator<string | Buffer>> {
  const pieces = renderStream(deps, stream, streaming);
  const first = await pieces.next();
  return (async function* () {
    if (streaming.type === 'text/csv') yield renderCsv(Object.keys(streaming.columns), streaming.separator);
    if (!first.done) yield first.value;
    yield* pieces;
  })();
}

async function* renderStream<Item, Place, T>(
  deps: Deps,
  { start, read, render }: ItemStream<Item, Place, T>,
  streaming: Streaming<T>,
): AsyncGenerator<Buffer> {
  const { caller } = streaming;
  const renderLine = (item: Item) => renderItem(render(item), streaming);
  // Each stretch takes its turn. Rendered at once, and a piece at a time, a client that stops reading holds 2 MB at most.
  const readPieces = (place: Place) =>
    deps.heavyReads.run(caller, async () => {
      const { items, next } = await read(place);
      return { pieces: await deps.heavyReads.inSlices(caller, renderPieces(items, renderLine)), next };
    });
  for (let place: Place | undefined = start; place !== undefined; ) {
    const { pieces, next }: { pieces: Buffer[]; next: Place | undefined } = await readPieces(place);
    yield* pieces;
    place = next;
  }
}

/** Outside the heap, where strings of this size would stay for long. */
function* renderPieces<Item>(
  items: readonly Item[],
  renderLine: (item: Item) => string,
): Generator<void, Buffer[]> {
  const pieces: Buffer[] = [];
  for (let at = 0; at < items.length; at += ITEMS_PER_PIECE) {
    const part = items.slice(at, at + ITEMS_PER_PIECE);
    pieces.push(Buffer.from(part.map(renderLine).join('')));
    yield;
  }
  return pieces;
}

function renderItem<T>(item: T, { columns, type, separator }: Streaming<T>): string {
  const cells = Object.entries(columns).map(([name, value]) => ({ name, value: value(item) }));
  if (type === 'text/csv')
    return renderCsv(
      cells.map(({ value }) => value),
      separator,
    );
  const members = cells.filter(({ value }) => value !== undefined && value !== null);
  return `{${members.map(({ name, value }) => `"${name}":${renderJson(value)}`).join(',')}}\n`;
}

function renderJson(value: unknown): string {
  return typeof value === 'bigint' ? `${value}` : JSON.stringify(value);
}
