/** Lists of lines of the ledger, which several routes have: a page as JSON, or all lines as CSV or NDJSON. */
import { Readable } from 'node:stream';
import type { FastifyReply } from 'fastify';
import type { AuthenticatedCaller } from '../../access/keys/authenticate.ts';
import { invalidRequest } from '../../base/failure.ts';
import { type TSchema, Type } from '../../base/lib/schema.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import type { LedgerFilter, LedgerLine } from '../../money/ledger/ledger-line.ts';
import { beginningOf, type LedgerPage, readLedgerPage } from '../../money/ledger/walk-ledger.ts';
import type { Deps } from '../deps.ts';
import { preferredType } from '../http/accept.ts';
import { parsePlace, renderPlace } from '../http/ledger-place.ts';
import { type Columns, type StreamType, streamLines } from '../http/ledger-stream.ts';
import { CursorSchema } from './paging.ts';
import { limitField, parseLimit } from './query.ts';

const LINES_USUAL = 100;
const LINES_MAX = 1_000;

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

/** What `Accept` asks for first; `undefined`: JSON. */
function streamOf(accept: string | undefined): StreamType | undefined {
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
  readonly columns: Columns<T>;
  readonly fileName: string;
}

/** A page takes a place among the calls of its tenant. A stream takes one for each of its parts. */
export async function sendList<T>(deps: Deps, reply: FastifyReply, list: List<T>): Promise<object> {
  const { caller, query, accept } = list;
  const stream = streamOf(accept);
  if (stream && (query.cursor !== undefined || query.limit !== undefined)) {
    throw invalidRequest('limit and cursor must be left out of a stream, which has every line');
  }
  const limit = parseLimit(query.limit, LINES_MAX, LINES_USUAL);
  const start = parsePlace(query.cursor, caller.tenant);
  if (stream) {
    const filter = await deps.calls.run(caller, list.filter);
    const { render, columns } = list;
    const lines = await streamLines(deps, { caller, filter, render, columns, type: stream });
    const ending = stream === 'text/csv' ? 'csv' : 'ndjson';
    reply.type(`${stream}; charset=utf-8`);
    reply.header('content-disposition', `attachment; filename="${list.fileName}.${ending}"`);
    return Readable.from(lines, { objectMode: false });
  }
  const page = await deps.calls.run(caller, async () => {
    const filter = await list.filter();
    return readLedgerPage(deps.db, caller.tenant, filter, start ?? beginningOf(filter), limit);
  });
  reply.type('application/json; charset=utf-8');
  return { ...list.renderPage(page.lines.map(list.render)), ...renderNext(caller.tenant, page) };
}

function renderNext(tenant: TenantId, { place }: LedgerPage): { next_cursor?: string } {
  return place ? { next_cursor: renderPlace(tenant, place) } : {};
}
