/** `/v1/webhooks` and below: endpoints of the tenant that get its events. */
import { OVERLAP_SECONDS_DEFAULT } from '../../access/keys/rotation-overlap.ts';
import { Type, time } from '../../base/lib/schema.ts';
import { changeWebhook } from '../../outward/webhooks/change-webhook.ts';
import { checkWebhookUrl } from '../../outward/webhooks/check-webhook-url.ts';
import { createWebhook } from '../../outward/webhooks/create-webhook.ts';
import { deleteWebhook } from '../../outward/webhooks/delete-webhook.ts';
import { getWebhook, listWebhooks } from '../../outward/webhooks/get-webhook.ts';
import { rotateSecret } from '../../outward/webhooks/rotate-secret.ts';
import { WEBHOOK_DEFAULTS, WEBHOOKS_MAX } from '../../outward/webhooks/webhook.ts';
import { SIGNING_SECRETS_MAX } from '../../outward/webhooks/webhook-secret.ts';
import { renderOne, renderSecret, renderWebhooks } from './render-webhooks.ts';
import { callOut, change, plain, write } from './route.ts';
import {
  headersOf,
  NewWebhookSchema,
  SecretRotationSchema,
  secretFields,
  settingsOf,
  WebhookChangeSchema,
  WebhookIdSchema,
  WebhookSchema,
} from './webhook-schema.ts';

const list = plain(
  {
    path: 'GET /v1/webhooks',
    key: 'backend',
    closedTo: 'deleted',
    queue: 'calls',
    tag: 'Webhooks',
    operation: 'listWebhooks',
    summary: 'All webhooks',
    description: `Oldest first, ${WEBHOOKS_MAX} at most, and without their secrets, which nothing can show again. Public keys are shown.`,
    answer: {
      200: Type.Object(
        { webhooks: Type.Array(WebhookSchema, { description: 'The webhooks' }) },
        { description: 'All of them' },
      ),
    },
  },
  async ({ deps, caller }) => {
    const webhooks = await listWebhooks(deps.db, caller.tenant);
    return { webhooks: await renderWebhooks(deps, deps.db, caller.tenant, webhooks) };
  },
);

const show = plain(
  {
    path: 'GET /v1/webhooks/:id',
    key: 'backend',
    closedTo: 'deleted',
    queue: 'calls',
    tag: 'Webhooks',
    operation: 'getWebhook',
    summary: 'One webhook',
    description: 'With how far its deliveries are, and what stops them.',
    params: WebhookIdSchema,
    answer: { 200: WebhookSchema },
    errors: [404],
  },
  async ({ deps, caller, params }) => {
    const webhook = await getWebhook(deps.db, caller.tenant, params.id);
    return renderOne(deps, deps.db, caller.tenant, webhook);
  },
);

const create = callOut(
  {
    path: 'POST /v1/webhooks',
    key: 'backend',
    closedTo: 'deleted',
    queue: 'calls',
    tag: 'Webhooks',
    operation: 'createWebhook',
    summary: 'Create a webhook',
    description:
      'It gets the events that happen from then on, signed as Standard Webhooks says. A tenant has ' +
      `${WEBHOOKS_MAX} webhooks at most.`,
    body: NewWebhookSchema,
    answer: { 201: Type.Object({ webhook: WebhookSchema, ...secretFields }, { description: 'Created' }) },
    errors: [409],
    audit: ['webhook_created'],
  },
  async (call, mutation) => {
    const { deps, caller, body } = call;
    await checkWebhookUrl(deps, body.url);
    const wanted = { ...WEBHOOK_DEFAULTS, ...settingsOf(body), ...headersOf(body), url: body.url };
    return write(call, mutation, async (tx) =>
      renderSecret(deps, tx, caller.tenant, await createWebhook(tx, deps, caller, wanted)),
    );
  },
);

const changeOne = callOut(
  {
    path: 'PATCH /v1/webhooks/:id',
    key: 'backend',
    closedTo: 'deleted',
    queue: 'calls',
    tag: 'Webhooks',
    operation: 'changeWebhook',
    summary: 'Change, pause or resume a webhook',
    description:
      'What is left out keeps its value. A webhook that goes on begins with the event where it stopped, at once. ' +
      'Another `url` or `order` is tried at once. Failures count on until a delivery.',
    params: WebhookIdSchema,
    body: WebhookChangeSchema,
    answer: { 200: WebhookSchema },
    errors: [404],
    audit: ['webhook_changed', 'webhook_paused', 'webhook_resumed'],
  },
  async (call, mutation) => {
    const { deps, caller, params, body } = call;
    const { url, paused } = body;
    if (url !== undefined) {
      await checkWebhookUrl(deps, url, (await getWebhook(deps.db, caller.tenant, params.id)).url);
    }
    const wanted = { ...settingsOf(body), ...headersOf(body), ...(paused !== undefined && { paused }) };
    return write(call, mutation, async (tx) => {
      const changed = await changeWebhook(tx, deps, caller, params.id, wanted);
      return renderOne(deps, tx, caller.tenant, changed);
    });
  },
);

const remove = change(
  {
    path: 'DELETE /v1/webhooks/:id',
    key: 'backend',
    closedTo: 'deleted',
    queue: 'calls',
    tag: 'Webhooks',
    operation: 'deleteWebhook',
    summary: 'Delete a webhook',
    description: 'A request that is under way may still arrive.',
    params: WebhookIdSchema,
    answer: { 204: Type.Null({ description: 'Deleted' }) },
    errors: [404],
    audit: ['webhook_deleted'],
  },
  async (tx, { caller, params }) => {
    await deleteWebhook(tx, caller, params.id);
    return null;
  },
);

const rotate = change(
  {
    path: 'POST /v1/webhooks/:id/rotate',
    key: 'backend',
    closedTo: 'deleted',
    queue: 'calls',
    tag: 'Webhooks',
    operation: 'rotateWebhookSecret',
    summary: 'Replace the secret; the old ones sign too for the overlap',
    description: `At most ${SIGNING_SECRETS_MAX} secrets sign at the same time.`,
    params: WebhookIdSchema,
    body: SecretRotationSchema,
    isBodyOptional: true,
    answer: {
      201: Type.Object(
        {
          webhook: WebhookSchema,
          ...secretFields,
          old_secret_retires: time('Until when the old secrets sign too'),
        },
        { description: 'Replaced' },
      ),
    },
    errors: [404, 409],
    audit: ['webhook_rotated'],
  },
  async (tx, { deps, caller, params, body }) => {
    const overlapSeconds = body.overlap_seconds ?? OVERLAP_SECONDS_DEFAULT;
    const rotated = await rotateSecret(tx, deps, caller, params.id, overlapSeconds);
    const shown = await renderSecret(deps, tx, caller.tenant, rotated);
    return { ...shown, old_secret_retires: rotated.oldSecretRetires.toISOString() };
  },
);

export const webhookRoutes = [list, show, create, changeOne, remove, rotate];
