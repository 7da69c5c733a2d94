/** `/v1/webhooks` and below: endpoints of the tenant that get its events. */
import { OVERLAP_SECONDS_DEFAULT } from '../../access/keys/rotation-overlap.ts';
import { Type } from '../../base/lib/schema.ts';
import { changeWebhook } from '../../outward/webhooks/change-webhook.ts';
import { createWebhook } from '../../outward/webhooks/create-webhook.ts';
import { deleteWebhook } from '../../outward/webhooks/delete-webhook.ts';
import { getWebhook, listWebhooks } from '../../outward/webhooks/get-webhook.ts';
import { rotateSecret, SIGNING_SECRETS_MAX } from '../../outward/webhooks/rotate-secret.ts';
import { WEBHOOKS_MAX } from '../../outward/webhooks/webhook.ts';
import type { Deps } from '../deps.ts';
import { answers } from '../http/answers.ts';
import type { Http } from '../http/http.ts';
import { callerOf, refuseStatus, requireKey } from './auth.ts';
import { IdempotencySchema, write } from './idempotency.ts';
import { time } from './schemas.ts';
import {
  NewWebhookSchema,
  renderSecret,
  renderWebhook,
  SecretRotationSchema,
  secretFields,
  WebhookChangeSchema,
  WebhookIdSchema,
  WebhookSchema,
} from './webhook-schema.ts';

const security = [{ backend_key: [] }];
const tags = ['Webhooks'];

export function webhookRoutes(app: Http, deps: Deps): void {
  list(app, deps);
  show(app, deps);
  create(app, deps);
  change(app, deps);
  remove(app, deps);
  rotate(app, deps);
}

function list(app: Http, deps: Deps): void {
  app.get(
    '/v1/webhooks',
    {
      onRequest: requireKey(deps, 'backend'),
      schema: {
        tags,
        operationId: 'listWebhooks',
        summary: 'All webhooks',
        description: `Oldest first, ${WEBHOOKS_MAX} at most, and without their secrets, which nothing can show again.`,
        security,
        response: answers(
          {
            200: Type.Object(
              { webhooks: Type.Array(WebhookSchema, { description: 'The webhooks' }) },
              { description: 'All of them' },
            ),
          },
          401,
          403,
        ),
      },
    },
    async (request) => {
      const caller = callerOf(request);
      refuseStatus(caller, 'deleted');
      return { webhooks: (await listWebhooks(deps.db, caller.tenant)).map(renderWebhook) };
    },
  );
}

function show(app: Http, deps: Deps): void {
  app.get(
    '/v1/webhooks/:id',
    {
      onRequest: requireKey(deps, 'backend'),
      schema: {
        tags,
        operationId: 'getWebhook',
        summary: 'One webhook',
        description: 'With how far its deliveries are, and what stops them.',
        security,
        params: WebhookIdSchema,
        response: answers({ 200: WebhookSchema }, 401, 403, 404),
      },
    },
    async (request) => {
      const caller = callerOf(request);
      refuseStatus(caller, 'deleted');
      return renderWebhook(await getWebhook(deps.db, caller.tenant, request.params.id));
    },
  );
}

function create(app: Http, deps: Deps): void {
  app.post(
    '/v1/webhooks',
    {
      onRequest: requireKey(deps, 'backend'),
      schema: {
        tags,
        operationId: 'createWebhook',
        summary: 'Create a webhook',
        description:
          'It gets the events that happen from then on, signed as Standard Webhooks says. A tenant has ' +
          `${WEBHOOKS_MAX} webhooks at most.`,
        security,
        headers: IdempotencySchema,
        body: NewWebhookSchema,
        response: answers(
          { 201: Type.Object({ webhook: WebhookSchema, ...secretFields }, { description: 'Created' }) },
          401,
          403,
          408,
          409,
          422,
        ),
      },
    },
    async (request, reply) => {
      const caller = callerOf(request);
      refuseStatus(caller, 'deleted');
      const { url, types = [], description = '' } = request.body;
      await write(deps, request, reply.code(201), async (tx) =>
        renderSecret(await createWebhook(tx, deps, caller, { url, types, description })),
      );
      return reply;
    },
  );
}

function change(app: Http, deps: Deps): void {
  app.patch(
    '/v1/webhooks/:id',
    {
      onRequest: requireKey(deps, 'backend'),
      schema: {
        tags,
        operationId: 'changeWebhook',
        summary: 'Change, pause or resume a webhook',
        description:
          'What is left out keeps its value. A webhook that goes on begins with the event where it stopped, at once. ' +
          'Another `url` is tried at once. Failures count on until a delivery.',
        security,
        headers: IdempotencySchema,
        params: WebhookIdSchema,
        body: WebhookChangeSchema,
        response: answers({ 200: WebhookSchema }, 401, 403, 404, 408, 422),
      },
    },
    async (request, reply) => {
      const caller = callerOf(request);
      refuseStatus(caller, 'deleted');
      await write(deps, request, reply.code(200), async (tx) =>
        renderWebhook(await changeWebhook(tx, deps, caller, request.params.id, request.body)),
      );
      return reply;
    },
  );
}

function remove(app: Http, deps: Deps): void {
  app.delete(
    '/v1/webhooks/:id',
    {
      onRequest: requireKey(deps, 'backend'),
      schema: {
        tags,
        operationId: 'deleteWebhook',
        summary: 'Delete a webhook',
        description: 'A request that is under way may still arrive.',
        security,
        headers: IdempotencySchema,
        params: WebhookIdSchema,
        response: answers({ 204: Type.Null({ description: 'Deleted' }) }, 401, 403, 404, 422),
      },
      config: { emptyBody: true },
    },
    async (request, reply) => {
      const caller = callerOf(request);
      refuseStatus(caller, 'deleted');
      await write(deps, request, reply.code(204), async (tx) => {
        await deleteWebhook(tx, caller, request.params.id);
        return null;
      });
      return reply;
    },
  );
}

function rotate(app: Http, deps: Deps): void {
  app.post(
    '/v1/webhooks/:id/rotate',
    {
      onRequest: requireKey(deps, 'backend'),
      schema: {
        tags,
        operationId: 'rotateWebhookSecret',
        summary: 'Replace the secret; the old ones sign too for the overlap',
        description: `At most ${SIGNING_SECRETS_MAX} secrets sign at the same time.`,
        security,
        headers: IdempotencySchema,
        params: WebhookIdSchema,
        body: SecretRotationSchema,
        response: answers(
          {
            201: Type.Object(
              {
                webhook: WebhookSchema,
                ...secretFields,
                old_secret_retires: time('Until when the old secrets sign too'),
              },
              { description: 'Replaced' },
            ),
          },
          401,
          403,
          404,
          408,
          409,
          422,
        ),
      },
      config: { optionalBody: true },
    },
    async (request, reply) => {
      const caller = callerOf(request);
      refuseStatus(caller, 'deleted');
      const overlapSeconds = request.body.overlap_seconds ?? OVERLAP_SECONDS_DEFAULT;
      await write(deps, request, reply.code(201), async (tx) => {
        const rotated = await rotateSecret(tx, deps, caller, request.params.id, overlapSeconds);
        return { ...renderSecret(rotated), old_secret_retires: rotated.oldSecretRetires.toISOString() };
      });
      return reply;
    },
  );
}
