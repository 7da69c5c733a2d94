/** `GET /v1/ledger`: every entry of the ledger. */

import { invalidField } from '../../base/failure.ts';
import { described, type Static, Type } from '../../base/lib/schema.ts';
import { renderAmount } from '../../money/amount.ts';
import { AmountSchema } from '../../money/amount-schema.ts';
import { entryOf, filterEntries, type ListedEntry } from '../../money/ledger/list-entries.ts';
import { ENTRY_KINDS, type EntryKind, RECORD_TEXT_MAX } from '../../money/ledger/posting.ts';
import { ENTRY_COLUMNS } from '../http/ledger-stream.ts';
import { sendLedgerList } from './ledger-lists.ts';
import { listAnswer, listFields } from './lists.ts';
import { nextCursor } from './paging.ts';
import { parsePeriod, periodFields } from './query.ts';
import { plain } from './route.ts';
import { LedgerEntrySchema, renderLedgerEntry } from './schemas.ts';

const EntrySchema = Type.Object(
  {
    ...LedgerEntrySchema.properties,
    id: Type.Optional(Type.String({ description: 'For usage, the id of the record' })),
    payment: Type.Optional(
      Type.String({ description: 'For a payment, refund or dispute, the id of the payment' }),
    ),
    posting_seq: Type.Unsafe<bigint>({
      type: 'integer',
      format: 'int64',
      description:
        'The number of the posting in the ledger. Records that were charged together have one posting',
    }),
    balance_after: described(AmountSchema, 'The balance after the posting'),
  },
  { description: 'One change of the balance' },
);

export const ledgerRoute = plain(
  {
    path: 'GET /v1/ledger',
    key: 'backend',
    closedTo: 'suspended',
    queue: 'its own',
    tag: 'Billing',
    operation: 'listLedger',
    summary: 'Every entry of the ledger',
    description:
      'Newest first. The sum of all entries is the balance. With a filter, a page may have fewer entries than ' +
      '`limit`, or none, and a `next_cursor` all the same.',
    query: Type.Object({
      kind: Type.Optional(
        Type.String({
          description: `Only these kinds, of \`${ENTRY_KINDS.join('`, `')}\`, separated by commas`,
          examples: ['top_up,auto_top_up'],
        }),
      ),
      room: Type.Optional(
        Type.String({
          maxLength: RECORD_TEXT_MAX,
          description: 'Only usage of this room; empty: only usage without one',
        }),
      ),
      participant: Type.Optional(
        Type.String({ maxLength: RECORD_TEXT_MAX, description: 'Only usage of this participant' }),
      ),
      ...periodFields,
      ...listFields,
    }),
    answer: {
      200: listAnswer(
        Type.Object({
          entries: Type.Array(EntrySchema, { description: 'The entries' }),
          ...nextCursor,
        }),
        Object.keys(ENTRY_COLUMNS),
      ),
    },
    parse: ({ query }) => {
      const { kind, room, participant } = query;
      return { kinds: parseKinds(kind), room, participant, ...parsePeriod(query) };
    },
  },
  async ({ deps, caller, query, input, request, reply }) => {
    return sendLedgerList(deps, reply, {
      caller,
      query,
      accept: request.headers.accept,
      filter: () => filterEntries(deps.db, caller.tenant, input),
      render: entryOf,
      renderPage: (entries) => ({ entries: entries.map(renderEntry) }),
      columns: ENTRY_COLUMNS,
      fileName: 'ledger',
    });
  },
);

function parseKinds(text: string | undefined): EntryKind[] | undefined {
  if (text === undefined) return undefined;
  const kinds = text.split(',');
  if (!kinds.every((kind) => ENTRY_KINDS.includes(kind as EntryKind))) {
    throw invalidField('kind', `must be of ${ENTRY_KINDS.join(', ')}, separated by commas`);
  }
  return kinds as EntryKind[];
}

function renderEntry(entry: ListedEntry): Static<typeof EntrySchema> {
  const { id, payment, seq, balanceAfter } = entry;
  return {
    ...renderLedgerEntry(entry),
    ...(id !== undefined && { id }),
    ...(payment !== undefined && { payment }),
    posting_seq: seq,
    balance_after: renderAmount(balanceAfter),
  };
}
