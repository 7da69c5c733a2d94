/** `GET /v1/usage/records`: every usage record, as it was charged. */

import { described, type Static, Type, time, words } from '../../base/lib/schema.ts';
import { plainDollars, renderAmount } from '../../money/amount.ts';
import { AmountSchema } from '../../money/amount-schema.ts';
import { RECORD_TEXT_MAX } from '../../money/ledger/posting.ts';
import { ROLES, TIERS } from '../../money/pricing/role.ts';
import { filterRecords, type ListedRecord, recordOf } from '../../money/usage/list-records.ts';
import { sendLedgerList } from './ledger-lists.ts';
import { listAnswer, listFields } from './lists.ts';
import { nextCursor } from './paging.ts';
import { parsePeriod, periodFields } from './query.ts';
import { plain } from './route.ts';

export const ChargedRecordSchema = Type.Object(
  {
    id: Type.String({ description: 'As reported' }),
    room: Type.Optional(Type.String({ description: 'As reported. Absent: there was none' })),
    participant: Type.Optional(Type.String({ description: 'As reported. Absent: there was none' })),
    role: words(ROLES, { description: 'As reported' }),
    tier: words(TIERS, { description: 'As reported' }),
    seconds: Type.Integer({ description: 'As reported' }),
    egress_bytes: Type.Integer({ format: 'int64', description: 'As reported' }),
    ingress_bytes: Type.Integer({ format: 'int64', description: 'As reported' }),
    total: described(AmountSchema, 'What it cost; for an unbilled record, what it would have cost'),
    capped: Type.Boolean({ description: 'The ceiling limited the charge' }),
    unbilled: Type.Boolean({ description: 'The tenant was exempt, so it was not charged' }),
    at: time('When it was charged'),
  },
  { description: 'A usage record' },
);

const COLUMNS = {
  at: ({ at }: ListedRecord) => at.toISOString(),
  id: ({ id }: ListedRecord) => id,
  room: ({ room }: ListedRecord) => room,
  participant: ({ participant }: ListedRecord) => participant,
  role: ({ role }: ListedRecord) => role,
  tier: ({ tier }: ListedRecord) => tier,
  seconds: ({ seconds }: ListedRecord) => seconds,
  egress_bytes: ({ egressBytes }: ListedRecord) => egressBytes,
  ingress_bytes: ({ ingressBytes }: ListedRecord) => ingressBytes,
  micros: ({ amount }: ListedRecord) => amount,
  dollars: ({ amount }: ListedRecord) => plainDollars(amount),
  capped: ({ capped }: ListedRecord) => capped,
  unbilled: ({ isUnbilled }: ListedRecord) => isUnbilled,
};

export const usageRecordsRoute = plain(
  {
    path: 'GET /v1/usage/records',
    key: 'backend',
    closedTo: 'suspended',
    queue: 'its own',
    tag: 'Usage',
    operation: 'listUsageRecords',
    summary: 'Every usage record, as it was charged',
    description:
      'Newest charge first. With a filter, a page may have fewer records than `limit`, or none, and a ' +
      '`next_cursor` all the same.',
    query: Type.Object({
      room: Type.Optional(
        Type.String({
          maxLength: RECORD_TEXT_MAX,
          description: 'Only this room; empty: only records without one',
        }),
      ),
      participant: Type.Optional(
        Type.String({ maxLength: RECORD_TEXT_MAX, description: 'Only this participant' }),
      ),
      role: Type.Optional(words(ROLES, { description: 'Only this role' })),
      tier: Type.Optional(words(TIERS, { description: 'Only this tier' })),
      ...periodFields,
      ...listFields,
    }),
    answer: {
      200: listAnswer(
        Type.Object({
          records: Type.Array(ChargedRecordSchema, { description: 'The records' }),
          ...nextCursor,
        }),
        Object.keys(COLUMNS),
      ),
    },
    parse: ({ query }) => {
      const { room, participant, role, tier } = query;
      return { room, participant, role, tier, ...parsePeriod(query) };
    },
  },
  async ({ deps, caller, query, input, request, reply }) => {
    return sendLedgerList(deps, reply, {
      caller,
      query,
      accept: request.headers.accept,
      filter: () => filterRecords(deps.db, caller.tenant, input),
      render: recordOf,
      renderPage: (records) => ({ records: records.map(renderRecord) }),
      columns: COLUMNS,
      fileName: 'usage-records',
    });
  },
);

export function renderRecord(record: ListedRecord): Static<typeof ChargedRecordSchema> {
  const { room, participant } = record;
  return {
    id: record.id,
    ...(room !== null && { room }),
    ...(participant !== null && { participant }),
    role: record.role,
    tier: record.tier,
    seconds: record.seconds,
    egress_bytes: Number(record.egressBytes),
    ingress_bytes: Number(record.ingressBytes),
    total: renderAmount(record.amount),
    capped: record.capped,
    unbilled: record.isUnbilled,
    at: record.at.toISOString(),
  };
}
