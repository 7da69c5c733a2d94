/**
 * Lists of lines of the ledger, which several routes have: a page as JSON, or all lines as CSV or NDJSON.
 *
 * A stream reads as fast as its client does, a stretch at a time, and holds neither a transaction nor a connection of
 * the database in between. So a client that stops reading costs a socket, until its time limit ends it.
 */
import { Readable } from 'node:stream';
import type { FastifyReply } from 'fastify';
import type { AuthenticatedCaller } from '../../access/keys/authenticate.ts';
import { invalidRequest } from '../../base/failure.ts';
import { type TSchema, Type } from '../../base/lib/schema.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import type { LedgerFilter, LedgerLine, LedgerPlace } from '../../money/ledger/ledger-line.ts';
import {
  beginningOf,
  type LedgerPage,
  readLedgerPage,
  readStretch,
  walkLedger,
} from '../../money/ledger/walk-ledger.ts';
import type { Deps } from '../deps.ts';
import { renderCsv } from '../http/csv.ts';
import { parsePlace, renderPlace } from '../http/ledger-place.ts';
import { preferredType } from './accept.ts';
import { CursorSchema } from './paging.ts';
import { limitField, parseLimit } from './query.ts';

const LINES_USUAL = 100;
const LINES_MAX = 1_000;
/** Of a stream. Large, because finding the records of the newest postings takes as long for few as for many. */
const STRETCH = 8_000;

export const listFields = { limit: limitField(LINES_MAX, LINES_USUAL), ...CursorSchema.properties };

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

type Stream = 'text/csv' | 'application/x-ndjson';

/** What `Accept` asks for first; `undefined`: JSON. */
function streamOf(accept: string | undefined): Stream | undefined {
  const type = preferredType(accept, ['application/json', 'text/csv', 'application/x-ndjson']);
  return type === 'application/json' ? undefined : type;
}

interface List<T> {
  readonly caller: AuthenticatedCaller;
  readonly query: { readonly limit?: string; readonly cursor?: string };
  readonly accept: string | undefined;
  /** Reads the period, so it is called once the rest of the request is known to be right. */
  readonly filter: () => Promise<LedgerFilter>;
  readonly render: (line: LedgerLine) => T;
  /** The page of JSON. */
  readonly renderPage: (items: T[]) => object;
  readonly columns: Readonly<Record<string, (item: T) => unknown>>;
  readonly fileName: string;
}

export async function sendList<T>(deps: Deps, reply: FastifyReply, list: List<T>): Promise<object> {
  const { caller, query, accept } = list;
  const stream = streamOf(accept);
  if (stream && (query.cursor !== undefined || query.limit !== undefined)) {
    throw invalidRequest('limit and cursor must be left out of a stream, which has every line');
  }
  const limit = parseLimit(query.limit, LINES_MAX, LINES_USUAL);
  const start = parsePlace(query.cursor, caller.tenant);
  const filter = await list.filter();
  // The answer is returned, not sent: a reply that was sent is waited for, and the call would keep its place until then.
  if (stream) {
    const ending = stream === 'text/csv' ? 'csv' : 'ndjson';
    reply.type(`${stream}; charset=utf-8`);
    reply.header('content-disposition', `attachment; filename="${list.fileName}.${ending}"`);
    return Readable.from(renderStream(deps, list, filter, stream), { objectMode: false });
  }
  const page = await readLedgerPage(deps.db, caller.tenant, filter, start ?? beginningOf(filter), limit);
  reply.type('application/json; charset=utf-8');
  return { ...list.renderPage(page.lines.map(list.render)), ...renderNext(caller.tenant, page) };
}

async function* renderStream<T>(
  deps: Deps,
  { caller, render, columns }: List<T>,
  filter: LedgerFilter,
  stream: Stream,
): AsyncGenerator<string> {
  // Each stretch takes its turn among the calls of the tenant.
  const read = (place: LedgerPlace) =>
    deps.calls.run(caller, () => readStretch(deps.db, caller.tenant, filter, place, STRETCH));
  if (stream === 'text/csv') yield renderCsv(Object.keys(columns));
  for await (const lines of walkLedger(read, beginningOf(filter))) {
    const items = lines.map(render);
    if (items.length === 0) continue;
    yield items.map((item) => renderItem(item, columns, stream)).join('');
  }
}

function renderItem<T>(item: T, columns: List<T>['columns'], stream: Stream): string {
  const cells = Object.entries(columns).map(([name, value]) => ({ name, value: value(item) }));
  if (stream === 'text/csv') return renderCsv(cells.map(({ value }) => value));
  const members = cells.filter(({ value }) => value !== undefined && value !== null);
  return `{${members.map(({ name, value }) => `"${name}":${renderJson(value)}`).join(',')}}\n`;
}

function renderJson(value: unknown): string {
  return typeof value === 'bigint' ? `${value}` : JSON.stringify(value);
}

function renderNext(tenant: TenantId, { place }: LedgerPage): { next_cursor?: string } {
  return place ? { next_cursor: renderPlace(tenant, place) } : {};
}
