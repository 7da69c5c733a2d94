/** `/v1/webhooks/{id}/test`, `/resend` and `/deliveries`: what a webhook was sent, and sending it again. */
import { invalidRequest } from '../../base/failure.ts';
import { Type } from '../../base/lib/schema.ts';
import { EVENT_DAYS } from '../../events/event.ts';
import { DELIVERY_DAYS } from '../../outward/webhooks/delivery.ts';
import {
  DELIVERIES_PAGE_MAX,
  DELIVERIES_PAGE_USUAL,
  listDeliveries,
} from '../../outward/webhooks/list-deliveries.ts';
import { resendSince } from '../../outward/webhooks/resend-since.ts';
import { resendEvent, testWebhook } from '../../outward/webhooks/send-now.ts';
import type { Deps } from '../deps.ts';
import { answers } from '../http/answers.ts';
import type { Http } from '../http/http.ts';
import { readOwnCursor, renderOwnCursor } from '../http/own-cursor.ts';
import { callerOf, refuseStatus, requireKey } from './auth.ts';
import { IdempotencySchema, mutationOf, write } from './idempotency.ts';
import { CursorSchema, nextCursor, noSuchPage } from './paging.ts';
import { limitField, parseLimit, parseTime } from './query.ts';
import { body } from './schemas.ts';
import {
  DeliverySchema,
  renderDelivery,
  renderWebhook,
  WebhookIdSchema,
  WebhookSchema,
} from './webhook-schema.ts';

const security = [{ backend_key: [] }];
const tags = ['Webhooks'];
const JSON_TYPE = 'application/json; charset=utf-8';

export function webhookDeliveryRoutes(app: Http, deps: Deps): void {
  list(app, deps);
  test(app, deps);
  resend(app, deps);
}

function list(app: Http, deps: Deps): void {
  app.get(
    '/v1/webhooks/:id/deliveries',
    {
      onRequest: requireKey(deps, 'backend'),
      schema: {
        tags,
        operationId: 'listWebhookDeliveries',
        summary: 'Attempts to send events to a webhook',
        description: `Newest first. They are kept for ${DELIVERY_DAYS} days.`,
        security,
        params: WebhookIdSchema,
        querystring: Type.Object({
          limit: limitField(DELIVERIES_PAGE_MAX, DELIVERIES_PAGE_USUAL),
          ...CursorSchema.properties,
        }),
        response: answers(
          {
            200: Type.Object(
              { deliveries: Type.Array(DeliverySchema, { description: 'The attempts' }), ...nextCursor },
              { description: 'A page of them' },
            ),
          },
          401,
          403,
          404,
        ),
      },
    },
    async (request) => {
      const caller = callerOf(request);
      const { id } = request.params;
      const size = parseLimit(request.query.limit, DELIVERIES_PAGE_MAX, DELIVERIES_PAGE_USUAL);
      const before = parsePlace(request.query.cursor, id);
      refuseStatus(caller, 'deleted');
      const { deliveries, end } = await listDeliveries(deps.db, caller.tenant, id, { before, size });
      return {
        deliveries: deliveries.map(renderDelivery),
        ...(end === undefined ? {} : { next_cursor: renderOwnCursor(id, [String(end)]) }),
      };
    },
  );
}

function test(app: Http, deps: Deps): void {
  app.post(
    '/v1/webhooks/:id/test',
    {
      onRequest: requireKey(deps, 'backend'),
      schema: {
        tags,
        operationId: 'testWebhook',
        summary: 'Send a test event now',
        description:
          'Sends an event of the type `webhook_test`, once and outside the order, and answers with what became of it. ' +
          'Works while the webhook is paused, too.',
        security,
        headers: IdempotencySchema,
        params: WebhookIdSchema,
        response: answers(
          { 200: Type.Object({ delivery: DeliverySchema }, { description: 'It was tried' }) },
          401,
          403,
          404,
          422,
        ),
      },
      config: { emptyBody: true, callsWebhook: true },
    },
    async (request, reply) => {
      refuseStatus(callerOf(request), 'deleted');
      const render = (delivery: Parameters<typeof renderDelivery>[0]) =>
        String(reply.serialize({ delivery: renderDelivery(delivery) }));
      const text = await testWebhook(deps, mutationOf(request), request.params.id, render);
      return reply.type(JSON_TYPE).send(text as never);
    },
  );
}

function resend(app: Http, deps: Deps): void {
  app.post(
    '/v1/webhooks/:id/resend',
    {
      onRequest: requireKey(deps, 'backend'),
      schema: {
        tags,
        operationId: 'resendEvents',
        summary: 'Send one event again now, or all since a time in order',
        description:
          `With \`seq\`, one event is sent once and outside the order, whatever its type, and the answer has what became ` +
          'of it. With `since`, the webhook goes back to the first event of that time and gets all wanted events from ' +
          `there again, in order; it never goes forward. Events are kept for ${EVENT_DAYS} days.`,
        security,
        headers: IdempotencySchema,
        params: WebhookIdSchema,
        body: body({
          seq: Type.Optional(
            Type.Integer({
              minimum: 1,
              maximum: Number.MAX_SAFE_INTEGER,
              format: 'int64',
              description: 'The number of one event',
            }),
          ),
          since: Type.Optional(
            Type.String({ description: 'A day (UTC) or a time, such as `2026-11-01T00:00:00Z`' }),
          ),
        }),
        response: answers(
          {
            200: Type.Object(
              { delivery: Type.Optional(DeliverySchema), webhook: Type.Optional(WebhookSchema) },
              { description: '`delivery` after `seq`, `webhook` after `since`' },
            ),
          },
          401,
          403,
          404,
          408,
          422,
        ),
      },
      config: { callsWebhook: true },
    },
    async (request, reply) => {
      const caller = callerOf(request);
      const { id } = request.params;
      const { seq } = request.body;
      const since = parseTime('since', request.body.since);
      if ((seq === undefined) === (since === undefined)) {
        throw invalidRequest('exactly one of seq and since must be given');
      }
      refuseStatus(caller, 'deleted');
      if (seq === undefined) {
        await write(deps, request, reply.code(200), async (tx) => ({
          webhook: renderWebhook(await resendSince(tx, caller, id, since!)),
        }));
        return reply;
      }
      const render = (delivery: Parameters<typeof renderDelivery>[0]) =>
        String(reply.serialize({ delivery: renderDelivery(delivery) }));
      const text = await resendEvent(deps, mutationOf(request), id, BigInt(seq), render);
      return reply.type(JSON_TYPE).send(text as never);
    },
  );
}

function parsePlace(cursor: string | undefined, webhook: string): bigint | undefined {
  if (cursor === undefined) return undefined;
  const [id = '', ...others] = readOwnCursor(cursor, webhook);
  if (!/^[1-9]\d{0,17}$/.test(id) || others.length > 0) throw noSuchPage();
  return BigInt(id);
}
