/** `POST /v1/usage`. Source: specification 2.6 and 4.12. */
import Type, { type Static } from 'typebox';
import { invalidRequest } from '../../base/failure.ts';
import { renderTenantId, type TenantId } from '../../base/tenants/tenant.ts';
import { renderAmount } from '../../money/amount.ts';
import { ROLES, TIERS } from '../../money/pricing/role.ts';
import { chargeUsage } from '../../money/usage/charge-usage.ts';
import {
  RECORD_ID_MAX,
  RECORD_TEXT_MAX,
  RECORDS_MAX,
  SECONDS_MAX,
  type UsageRecord,
} from '../../money/usage/usage-record.ts';
import { UsageRecords } from '../../money/usage/usage-records.ts';
import type { Deps } from '../deps.ts';
import type { Http } from '../http/http.ts';
import { callerOf, requireKey } from './auth.ts';
import { AmountSchema, answers, body, words } from './schemas.ts';
import { readPlainUsage } from './usage-body.ts';

const RecordSchema = body({
  id: Type.String({
    minLength: 1,
    maxLength: RECORD_ID_MAX,
    description: 'The same for the same participant and interval, on every retry; never used for another',
  }),
  tenant: Type.Optional(Type.String({ description: 'If given, the tenant of the key' })),
  room: Type.Optional(Type.String({ maxLength: RECORD_TEXT_MAX })),
  participant: Type.Optional(Type.String({ maxLength: RECORD_TEXT_MAX })),
  role: words(ROLES),
  tier: words(TIERS),
  seconds: Type.Integer({ minimum: 0, maximum: SECONDS_MAX }),
  egress_bytes: Type.Integer({ minimum: 0 }),
  ingress_bytes: Type.Integer({ minimum: 0 }),
});

declare module 'fastify' {
  interface FastifyRequest {
    /** The result of the fast parser, if it accepted the body. */
    records: UsageRecords | undefined;
  }
}

export function usageRoute(app: Http, deps: Deps): void {
  app.decorateRequest('records', undefined);
  app.post(
    '/v1/usage',
    {
      onRequest: requireKey(deps, 'relay'),
      config: {
        ownQueue: true,
        readBody: (request, bytes) => {
          request.records = readPlainUsage(bytes, renderTenantId(callerOf(request).tenant));
          // The fast parser has validated the records, so the schema gets an empty list.
          return request.records && { records: [] };
        },
      },
      schema: {
        tags: ['Usage'],
        summary: 'Report usage and have it charged',
        description:
          'A batch is charged as a whole or not at all. After a network error, a timeout or a 5xx, send the ' +
          'same batch again: an id that was charged is never charged twice.',
        security: [{ relay_key: [] }],
        body: body({ records: Type.Array(RecordSchema, { maxItems: RECORDS_MAX }) }),
        response: answers(
          {
            200: Type.Object({
              charged: Type.Integer(),
              duplicates: Type.Integer(),
              unbilled: Type.Integer(),
              total: AmountSchema,
              admitted: Type.Boolean({ description: 'False: admit no new sessions until it is true again' }),
            }),
          },
          400,
          401,
        ),
      },
    },
    async (request) => {
      const { tenant } = callerOf(request);
      const records = request.records ?? UsageRecords.from(parseRecords(request.body.records, tenant));
      const outcome = await chargeUsage(deps, tenant, records);
      return { ...outcome, total: renderAmount(outcome.total) };
    },
  );
}

/** The schema has validated each field. This checks the tenant and converts to our types. */
function parseRecords(given: readonly Static<typeof RecordSchema>[], tenant: TenantId): UsageRecord[] {
  const expected = renderTenantId(tenant);
  return given.map((record, index) => {
    if (record.tenant !== undefined && record.tenant !== expected) {
      throw invalidRequest(`records/${index}/tenant must be the tenant of the key`);
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
