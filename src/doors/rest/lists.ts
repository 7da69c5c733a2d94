/** Lists that are answered as a page of JSON, or as a whole as CSV or NDJSON. */
import { Readable } from 'node:stream';
import type { FastifyReply } from 'fastify';
import type { AuthenticatedCaller } from '../../access/keys/authenticate.ts';
import { invalidRequest } from '../../base/failure.ts';
import { type TSchema, Type } from '../../base/lib/schema.ts';
import type { Deps } from '../deps.ts';
import { preferredType } from '../http/accept.ts';
import { type Columns, type ItemStream, type StreamType, streamItems } from '../http/item-stream.ts';
import { CursorSchema } from './paging.ts';
import { limitField, parseLimit } from './query.ts';
import { ITEMS_PER_SLICE, renderInSlices } from './slices.ts';

const ITEMS_USUAL = 100;
const ITEMS_MAX = 1_000;

export const listFields = { limit: limitField(ITEMS_MAX, ITEMS_USUAL), ...CursorSchema.properties };

/** The answer of a route: one schema for JSON, and what the lines of the streams are. */
export function listAnswer(page: TSchema, columns: readonly string[]) {
  const text = (description: string) => ({ schema: Type.String({ description }) });
  return Type.Unsafe<object>({
    description: 'A page; or, by `Accept`, all of them as a stream',
    content: {
      'application/json': { schema: page },
      'text/csv': text(`Every line, with the columns ${columns.join(', ')}`),
      'application/x-ndjson': text('Every line as a JSON object'),
    },
  });
}

/** What `Accept` asks for first; `undefined`: JSON. */
function streamOf(accept: string | undefined): StreamType | undefined {
  const type = preferredType(accept, ['application/json', 'text/csv', 'application/x-ndjson']);
  return type === 'application/json' ? undefined : type;
}

/** A page of JSON. */
interface ReadPage<PageItem> {
  readonly items: readonly PageItem[];
  /** `undefined`: there are no more. */
  readonly nextCursor: string | undefined;
}

interface List<Item, Place, T, PageItem> {
  readonly caller: AuthenticatedCaller;
  readonly query: { readonly limit?: string; readonly cursor?: string };
  readonly accept: string | undefined;
  /** `undefined`: the first page. Fails with `invalid_request`. */
  readonly parsePlace: (cursor: string | undefined) => Place | undefined;
  /** Takes a place among the calls of the tenant, once the rest of the request is known to be right. */
  readonly openStream: () => Promise<ItemStream<Item, Place, T>>;
  readonly columns: Columns<T>;
  readonly fileName: string;
  /** Takes a place, too. */
  readonly readPage: (start: Place | undefined, limit: number) => Promise<ReadPage<PageItem>>;
  /** The body with some items, without a cursor. */
  readonly renderPage: (items: readonly PageItem[]) => object;
}

/** A page takes a place among the calls of its tenant. A stream takes one for each of its parts. */
export async function sendList<Item, Place, T, PageItem>(
  deps: Deps,
  reply: FastifyReply,
  list: List<Item, Place, T, PageItem>,
): Promise<object> {
  const { caller, query, columns } = list;
  const type = streamOf(list.accept);
  if (type && (query.cursor !== undefined || query.limit !== undefined)) {
    throw invalidRequest('limit and cursor must be left out of a stream, which has every line');
  }
  const limit = parseLimit(query.limit, ITEMS_MAX, ITEMS_USUAL);
  const start = list.parsePlace(query.cursor);
  if (type) {
    const stream = await deps.calls.run(caller, list.openStream);
    const lines = await streamItems(deps, stream, { caller, columns, type });
    const ending = type === 'text/csv' ? 'csv' : 'ndjson';
    reply.type(`${type}; charset=utf-8`);
    reply.header('content-disposition', `attachment; filename="${list.fileName}.${ending}"`);
    return Readable.from(lines, { objectMode: false });
  }
  const { items, nextCursor } = await deps.calls.run(caller, () => list.readPage(start, limit));
  reply.type('application/json; charset=utf-8');
  const render = (some: readonly PageItem[]) => ({
    ...list.renderPage(some),
    ...(nextCursor !== undefined && { next_cursor: nextCursor }),
  });
  if (items.length <= ITEMS_PER_SLICE) return render(items);
  const renderText = (some: readonly PageItem[]) =>
    String(reply.serializeInput(render(some), '200', 'application/json'));
  return reply.send(await deps.heavyReads.inSlices(caller, renderInSlices(items, renderText)));
}
