/** `POST /v1/usage`. Source: specification 2.6 and 4.12. */

import { invalidField } from '../../base/failure.ts';
import { described, type Static, Type, words } from '../../base/lib/schema.ts';
import { renderTenantId, type TenantId } from '../../base/tenants/tenant.ts';
import { renderAmount } from '../../money/amount.ts';
import { AmountSchema } from '../../money/amount-schema.ts';
import { RECORD_TEXT_MAX } from '../../money/ledger/posting.ts';
import { ROLES, TIERS } from '../../money/pricing/role.ts';
import {
  RECORD_ID_MAX,
  RECORDS_MAX,
  SECONDS_MAX,
  type UsageRecord,
} from '../../money/records/usage-record.ts';
import { UsageRecords } from '../../money/records/usage-records.ts';
import { chargeUsage } from '../../money/usage/charge-usage.ts';
import { plain } from './route.ts';
import { strictObject } from './schemas.ts';
import { isSmallUsage, readPlainUsage, readPlainUsageInSlices } from './usage-body.ts';

const RecordSchema = strictObject({
  id: Type.String({
    minLength: 1,
    maxLength: RECORD_ID_MAX,
    description: 'The same for the same participant and interval, on every retry; never used for another',
  }),
  tenant: Type.Optional(Type.String({ description: 'If given, the tenant of the key' })),
  room: Type.Optional(
    Type.String({ maxLength: RECORD_TEXT_MAX, description: 'The room, which the ledger shows' }),
  ),
  participant: Type.Optional(
    Type.String({ maxLength: RECORD_TEXT_MAX, description: 'The participant, which the ledger shows' }),
  ),
  role: words(ROLES, { description: 'What the participant is in the room: it decides the ceiling' }),
  tier: words(TIERS, { description: 'The sum of all video received at once: it decides the ceiling' }),
  seconds: Type.Integer({
    minimum: 0,
    maximum: SECONDS_MAX,
    description: 'How long the participant was connected in the interval',
  }),
  egress_bytes: Type.Integer({ minimum: 0, description: 'Bytes sent to the participant: they are charged' }),
  ingress_bytes: Type.Integer({ minimum: 0, description: 'Bytes received from the participant' }),
});

declare module 'fastify' {
  interface FastifyRequest {
    /** The result of the fast parser, if it accepted the body. */
    records: UsageRecords | undefined;
  }
}

export const usageRoute = plain(
  {
    path: 'POST /v1/usage',
    key: 'relay',
    closedTo: 'none',
    queue: 'its own',
    tag: 'Usage',
    operation: 'reportUsage',
    summary: 'Report usage and have it charged',
    description:
      'A batch is charged as a whole or not at all. After a network error, a timeout or a 5xx, send the ' +
      'same batch again: an id that was charged is never charged twice.',
    body: strictObject({
      records: Type.Array(RecordSchema, {
        maxItems: RECORDS_MAX,
        description: 'The batch. An empty one asks for `admitted` alone',
      }),
    }),
    answer: {
      200: Type.Object(
        {
          charged: Type.Integer({ description: 'Records that were charged' }),
          duplicates: Type.Integer({ description: 'Records whose id was known already: not charged' }),
          unbilled: Type.Integer({ description: 'Records accepted and not charged: exempt tenants' }),
          total: described(AmountSchema, 'What the batch cost'),
          admitted: Type.Boolean({
            description: 'False: admit no new sessions until it is true again',
          }),
        },
        { description: 'Charged' },
      ),
    },
    readBody: async (request, bytes, inTurn) => {
      const { tenant } = request.caller!;
      request.records = isSmallUsage(bytes)
        ? readPlainUsage(bytes, renderTenantId(tenant))
        : await inTurn(readPlainUsageInSlices(bytes, renderTenantId(tenant)));
      // The fast parser has validated the records, so the schema gets an empty list.
      return request.records && { records: [] };
    },
  },
  async ({ deps, caller, body, request }) => {
    const records = request.records ?? UsageRecords.from(parseRecords(body.records, caller.tenant));
    const outcome = await chargeUsage(deps, caller, records);
    return { ...outcome, total: renderAmount(outcome.total) };
  },
);

/** The schema has validated each field. This checks the tenant and converts to our types. */
function parseRecords(given: readonly Static<typeof RecordSchema>[], tenant: TenantId): UsageRecord[] {
  const expected = renderTenantId(tenant);
  return given.map((record, index) => {
    if (record.tenant !== undefined && record.tenant !== expected) {
      throw invalidField(`records/${index}/tenant`, 'must be the tenant of the key');
    }
    return {
      id: record.id,
      room: record.room,
      participant: record.participant,
      role: record.role,
      tier: record.tier,
      seconds: record.seconds,
      egressBytes: BigInt(record.egress_bytes),
      ingressBytes: BigInt(record.ingress_bytes),
    };
  });
}
