/** `/v1/keys` and below. Source: specification 4.7 to 4.10. */

import { KEY_KINDS } from '../../access/keys/api-key.ts';
import { createKey } from '../../access/keys/create-key.ts';
import { KEYS_PAGE_SIZE, listKeys } from '../../access/keys/list-keys.ts';
import { revokeKey } from '../../access/keys/revoke-key.ts';
import { rotateKey } from '../../access/keys/rotate-key.ts';
import { OVERLAP_SECONDS_DEFAULT } from '../../access/keys/rotation-overlap.ts';
import { Type } from '../../base/lib/schema.ts';
import type { Deps } from '../deps.ts';
import { answers } from '../http/answers.ts';
import type { Http } from '../http/http.ts';
import { callerOf, refuseStatus, requireKey } from './auth.ts';
import { IdempotencySchema, write } from './idempotency.ts';
import { CursorSchema, nextCursor, noSuchPage, parseCursor, renderCursor } from './paging.ts';
import {
  ApiKeySchema,
  body,
  IdSchema,
  KeyNameSchema,
  PlaintextSchema,
  RotationSchema,
  renderApiKey,
  time,
  words,
} from './schemas.ts';

const security = [{ backend_key: [] }];
const tags = ['Keys'];

export function keyRoutes(app: Http, deps: Deps): void {
  list(app, deps);
  create(app, deps);
  revoke(app, deps);
  rotate(app, deps);
}

function list(app: Http, deps: Deps): void {
  app.get(
    '/v1/keys',
    {
      onRequest: requireKey(deps, 'backend'),
      schema: {
        tags,
        operationId: 'listKeys',
        summary: 'All keys, revoked ones too',
        description: `Oldest first, ${KEYS_PAGE_SIZE} at once, and without their secrets, which nothing can show again.`,
        security,
        querystring: CursorSchema,
        response: answers(
          {
            200: Type.Object(
              { keys: Type.Array(ApiKeySchema, { description: 'The keys' }), ...nextCursor },
              { description: 'A page of them' },
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
      const page = await listKeys(deps.db, caller.tenant, parseCursor(request.query.cursor));
      if (!page) throw noSuchPage();
      return { keys: page.keys.map(renderApiKey), ...renderCursor(page.end) };
    },
  );
}

function create(app: Http, deps: Deps): void {
  app.post(
    '/v1/keys',
    {
      onRequest: requireKey(deps, 'backend'),
      schema: {
        tags,
        operationId: 'createKey',
        summary: 'Create a key',
        description: 'The answer has its plaintext, which no later answer shows.',
        security,
        headers: IdempotencySchema,
        body: body({
          name: KeyNameSchema,
          kind: Type.Optional(
            words(KEY_KINDS, {
              default: 'backend',
              description: '`backend`: everything of the tenant; `relay`: reports of usage',
            }),
          ),
        }),
        response: answers(
          {
            201: Type.Object({ key: ApiKeySchema, api_key: PlaintextSchema }, { description: 'Created' }),
          },
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
      const { name, kind = 'backend' } = request.body;
      await write(deps, request, reply.code(201), async (tx) => {
        const { key, plaintext } = await createKey(tx, deps.config, caller, { name, kind });
        return { key: renderApiKey(key), api_key: plaintext };
      });
      return reply;
    },
  );
}

function revoke(app: Http, deps: Deps): void {
  app.delete(
    '/v1/keys/:id',
    {
      onRequest: requireKey(deps, 'backend'),
      schema: {
        tags,
        operationId: 'revokeKey',
        summary: 'Revoke a key at once',
        description:
          'The key that makes the request cannot be revoked: 400. The last working key of its kind needs `confirm`.',
        security,
        headers: IdempotencySchema,
        params: IdSchema,
        querystring: Type.Object({
          confirm: Type.Optional(
            Type.String({ description: '`stop-service`: also the last working key of its kind' }),
          ),
        }),
        response: answers({ 204: Type.Null({ description: 'Revoked' }) }, 401, 403, 404, 409, 422),
      },
      config: { emptyBody: true },
    },
    async (request, reply) => {
      const caller = callerOf(request);
      refuseStatus(caller, 'deleted');
      const stopServiceConfirmed = request.query.confirm === 'stop-service';
      await write(deps, request, reply.code(204), async (tx) => {
        await revokeKey(tx, caller, request.params.id, { stopServiceConfirmed });
        return null;
      });
      return reply;
    },
  );
}

function rotate(app: Http, deps: Deps): void {
  app.post(
    '/v1/keys/:id/rotate',
    {
      onRequest: requireKey(deps, 'backend'),
      schema: {
        tags,
        operationId: 'rotateKey',
        summary: 'Replace a key; the old one works on for the overlap',
        description:
          'The replacement has the same name and kind. The key that makes the request may be rotated.',
        security,
        headers: IdempotencySchema,
        params: IdSchema,
        body: RotationSchema,
        response: answers(
          {
            201: Type.Object(
              {
                key: ApiKeySchema,
                api_key: PlaintextSchema,
                old_key_retires: time('Until when the old key works'),
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
      const old = { keyId: request.params.id, overlapSeconds };
      await write(deps, request, reply.code(201), async (tx) => {
        const { key, plaintext, oldKeyRetires } = await rotateKey(tx, deps.config, caller, old);
        return {
          key: renderApiKey(key),
          api_key: plaintext,
          old_key_retires: oldKeyRetires.toISOString(),
        };
      });
      return reply;
    },
  );
}
