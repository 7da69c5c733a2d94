/** `/v1/webhooks/{id}/test`, `/resend` and `/deliveries`: what a webhook was sent, and sending it again. */
import type { FastifyReply } from 'fastify';
import { invalidField, invalidRequest } from '../../base/failure.ts';
import { type Static, Type, words } from '../../base/lib/schema.ts';
import { EVENT_DAYS } from '../../events/event.ts';
import { DELIVERY_OUTCOMES, type Delivery } from '../../outward/webhooks/delivery.ts';
import { listDeadLetters } from '../../outward/webhooks/list-dead-letters.ts';
import {
  DELIVERIES_PAGE_MAX,
  DELIVERIES_PAGE_USUAL,
  listDeliveries,
} from '../../outward/webhooks/list-deliveries.ts';
import { resendFailed } from '../../outward/webhooks/resend-failed.ts';
import { resendSince } from '../../outward/webhooks/resend-since.ts';
import { resendEvent, testWebhook } from '../../outward/webhooks/send-now.ts';
import type { Webhook } from '../../outward/webhooks/webhook.ts';
import { readOwnCursor, renderOwnCursor } from '../http/own-cursor.ts';
import { CursorSchema, nextCursor, noSuchPage } from './paging.ts';
import { limitField, parseLimit, parseTime } from './query.ts';
import { renderOne } from './render-webhooks.ts';
import { callOut, JSON_TYPE, plain, write } from './route.ts';
import { strictObject } from './schemas.ts';
import {
  DeadLetterSchema,
  DeliverySchema,
  renderDeadLetter,
  renderDelivery,
  WebhookIdSchema,
  WebhookSchema,
} from './webhook-schema.ts';

/** Which page of what belongs to one webhook. */
const PageQuery = Type.Object({
  limit: limitField(DELIVERIES_PAGE_MAX, DELIVERIES_PAGE_USUAL),
  ...CursorSchema.properties,
});

const list = plain(
  {
    path: 'GET /v1/webhooks/:id/deliveries',
    key: 'backend',
    closedTo: 'deleted',
    queue: 'calls',
    tag: 'Webhooks',
    operation: 'listWebhookDeliveries',
    summary: 'Attempts to send events to a webhook',
    description: `Newest first. They are kept for ${EVENT_DAYS} days, or longer if the operator says so.`,
    params: WebhookIdSchema,
    query: Type.Object({
      outcome: Type.Optional(
        words(DELIVERY_OUTCOMES, {
          description:
            'Only attempts that ended so. `delivered`: the answer had a status from 200 to 299; `failed`: it had another one, or ' +
            'there was none. Left out: all',
        }),
      ),
      ...PageQuery.properties,
    }),
    answer: {
      200: Type.Object(
        { deliveries: Type.Array(DeliverySchema, { description: 'The attempts' }), ...nextCursor },
        { description: 'A page of them' },
      ),
    },
    errors: [404],
    parse: ({ params, query }) => ({ ...parsePage({ params, query }), outcome: query.outcome }),
  },
  async ({ deps, caller, params, input }) => {
    const { id } = params;
    const { deliveries, end } = await listDeliveries(deps.db, caller.tenant, id, input);
    return {
      deliveries: deliveries.map(renderDelivery),
      ...(end === undefined ? {} : { next_cursor: renderOwnCursor(id, [String(end)]) }),
    };
  },
);

const dead = plain(
  {
    path: 'GET /v1/webhooks/:id/dead-letters',
    key: 'backend',
    closedTo: 'deleted',
    queue: 'calls',
    tag: 'Webhooks',
    operation: 'listWebhookDeadLetters',
    summary: 'Events that a webhook was not sent in the end',
    description:
      'Those that were given up after their last attempt, the newest first, until they are sent again: one by its number, ' +
      'all with `only_failed`. They are kept as long as the attempts.',
    params: WebhookIdSchema,
    query: PageQuery,
    answer: {
      200: Type.Object(
        { dead_letters: Type.Array(DeadLetterSchema, { description: 'The events' }), ...nextCursor },
        { description: 'A page of them' },
      ),
    },
    errors: [404],
    parse: parsePage,
  },
  async ({ deps, caller, params, input }) => {
    const { id } = params;
    const { deadLetters, end } = await listDeadLetters(deps.db, caller.tenant, id, input);
    return {
      dead_letters: deadLetters.map(renderDeadLetter),
      ...(end === undefined ? {} : { next_cursor: renderOwnCursor(id, [String(end)]) }),
    };
  },
);

const test = callOut(
  {
    path: 'POST /v1/webhooks/:id/test',
    key: 'backend',
    closedTo: 'deleted',
    queue: 'webhook calls',
    tag: 'Webhooks',
    operation: 'testWebhook',
    summary: 'Send a test event now',
    description:
      'Sends an event of the type `webhook_test`, once and outside the order, and answers with what became of it. ' +
      'Works while the webhook is paused, too.',
    params: WebhookIdSchema,
    answer: { 200: Type.Object({ delivery: DeliverySchema }, { description: 'It was tried' }) },
    errors: [404],
    audit: [],
  },
  async ({ deps, params, reply }, mutation) => {
    const render = (delivery: Delivery) => renderAnswer(reply, delivery);
    const text = await testWebhook(deps, mutation, params.id, render);
    return reply.type(JSON_TYPE).send(text as never);
  },
);

const resend = callOut(
  {
    path: 'POST /v1/webhooks/:id/resend',
    key: 'backend',
    closedTo: 'deleted',
    queue: 'webhook calls',
    tag: 'Webhooks',
    operation: 'resendEvents',
    summary: 'Send one event again now, or all since a time in order',
    description:
      `With \`seq\`, one event is sent once and outside the order, whatever its type, and the answer has what became ` +
      'of it. With `since`, the webhook goes back to the first event of that time and gets all wanted events from ' +
      `there again, in order; it never goes forward. With \`only_failed\` too, what was given up since then is put aside and ` +
      'sent again, and what is put aside and has failed is tried at once; the webhook does not go back. ' +
      `Events are kept for ${EVENT_DAYS} days, or longer if the operator says so.`,
    params: WebhookIdSchema,
    body: strictObject({
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
      only_failed: Type.Optional(
        Type.Boolean({
          default: false,
          description: 'With `since`: only what was given up since then. Left out: everything that is wanted',
        }),
      ),
    }),
    answer: {
      200: Type.Object(
        {
          delivery: Type.Optional(DeliverySchema),
          webhook: Type.Optional(WebhookSchema),
          resent: Type.Optional(
            Type.Integer({
              description: 'After `only_failed`: how many events that were given up come again',
            }),
          ),
          more: Type.Optional(
            Type.Boolean({
              description:
                'After `only_failed`: others stay given up, because no more events may be put aside. Ask again later',
            }),
          ),
        },
        { description: '`delivery` after `seq`, `webhook` after `since`' },
      ),
    },
    errors: [404],
    audit: ['webhook_moved_back', 'webhook_resent'],
    parse: ({ body: { seq, since: time, only_failed: onlyFailed = false } }) => {
      const since = parseTime('since', time);
      if ((seq === undefined) === (since === undefined)) {
        throw invalidRequest('exactly one of seq and since must be given');
      }
      if (onlyFailed && since === undefined) throw invalidField('only_failed', 'must come with since');
      return { seq, since, onlyFailed };
    },
  },
  async (call, mutation) => {
    const { deps, caller, reply } = call;
    const { id } = call.params;
    const { seq, since, onlyFailed } = call.input;
    if (seq === undefined) {
      await deps.resendLimit.count(caller);
      return write(call, mutation, async (tx) => {
        const render = (webhook: Webhook) => renderOne(deps, tx, caller.tenant, webhook);
        if (!onlyFailed) return { webhook: await render(await resendSince(tx, caller, id, since!)) };
        const { webhook, resent, hasMore } = await resendFailed(tx, caller, id, since!);
        return { webhook: await render(webhook), resent, more: hasMore };
      });
    }
    const render = (delivery: Delivery) => renderAnswer(reply, delivery);
    const text = await resendEvent(deps, mutation, id, BigInt(seq), render);
    return reply.type(JSON_TYPE).send(text as never);
  },
);

/** As 200 has it, though the request may have been answered with 503 meanwhile: the outcome is kept for its repetition. */
function renderAnswer(reply: FastifyReply, delivery: Delivery): string {
  return String(reply.serializeInput({ delivery: renderDelivery(delivery) }, '200'));
}

function parsePage({
  params,
  query,
}: {
  readonly params: Static<typeof WebhookIdSchema>;
  readonly query: Static<typeof PageQuery>;
}) {
  return {
    size: parseLimit(query.limit, DELIVERIES_PAGE_MAX, DELIVERIES_PAGE_USUAL),
    before: parsePlace(query.cursor, params.id),
  };
}

function parsePlace(cursor: string | undefined, webhook: string): bigint | undefined {
  if (cursor === undefined) return undefined;
  const [id = '', ...others] = readOwnCursor(cursor, webhook);
  if (!/^[1-9]\d{0,17}$/.test(id) || others.length > 0) throw noSuchPage();
  return BigInt(id);
}

export const webhookDeliveryRoutes = [list, dead, test, resend];
