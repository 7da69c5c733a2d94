/** Lists of lines of the ledger, which several routes have. */
import type { FastifyReply } from 'fastify';
import type { AuthenticatedCaller } from '../../access/keys/authenticate.ts';
import type { LedgerFilter, LedgerLine } from '../../money/ledger/ledger-line.ts';
import { beginningOf, readLedgerPage } from '../../money/ledger/walk-ledger.ts';
import type { Deps } from '../deps.ts';
import type { Columns } from '../http/item-stream.ts';
import { parsePlace, renderPlace } from '../http/ledger-place.ts';
import { ledgerStream } from '../http/ledger-stream.ts';
import { sendList } from './lists.ts';

interface LedgerList<T> {
  readonly caller: AuthenticatedCaller;
  readonly query: { readonly limit?: string; readonly cursor?: string };
  readonly accept: string | undefined;
  /** Reads the period, so it is called once the rest of the request is known to be right. */
  readonly filter: () => Promise<LedgerFilter>;
  readonly render: (line: LedgerLine) => T;
  /** The page of JSON. */
  readonly renderPage: (items: readonly T[]) => object;
  readonly columns: Columns<T>;
  readonly fileName: string;
}

export function sendLedgerList<T>(deps: Deps, reply: FastifyReply, list: LedgerList<T>): Promise<object> {
  const { filter, render, ...rest } = list;
  const { tenant } = list.caller;
  return sendList(deps, reply, {
    ...rest,
    parsePlace: (cursor) => parsePlace(cursor, tenant),
    openStream: async () => ledgerStream(deps.db, tenant, await filter(), render),
    readPage: async (start, limit) => {
      const asked = await filter();
      const { lines, place } = await readLedgerPage(
        deps.db,
        tenant,
        asked,
        start ?? beginningOf(asked),
        limit,
      );
      return { items: lines.map(render), nextCursor: place && renderPlace(tenant, place) };
    },
  });
}
