/** `/v1/keys` and below. Source: specification 4.7 to 4.10. */
import Type from 'typebox';
import { KEY_KINDS } from '../../access/keys/api-key.ts';
import { createKey } from '../../access/keys/create-key.ts';
import { KEYS_PAGE_SIZE, listKeys } from '../../access/keys/list-keys.ts';
import { revokeKey } from '../../access/keys/revoke-key.ts';
import { rotateKey } from '../../access/keys/rotate-key.ts';
import { OVERLAP_SECONDS_DEFAULT } from '../../access/keys/rotation-overlap.ts';
import type { Deps } from '../deps.ts';
import type { Http } from '../http/http.ts';
import { callerOf, refuseStatus, requireKey } from './auth.ts';
import { CursorSchema, nextCursor, noSuchPage, parseCursor, renderCursor } from './paging.ts';
import {
  ApiKeySchema,
  answers,
  body,
  IdSchema,
  KeyNameSchema,
  PlaintextSchema,
  RotationSchema,
  renderApiKey,
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
        summary: 'All keys, revoked ones too',
        description: `The oldest first, ${KEYS_PAGE_SIZE} at once.`,
        security,
        querystring: CursorSchema,
        response: answers(
          { 200: Type.Object({ keys: Type.Array(ApiKeySchema), ...nextCursor }) },
          400,
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
        summary: 'Create a key',
        security,
        body: body({
          name: KeyNameSchema,
          kind: Type.Optional(words(KEY_KINDS, { default: 'backend' })),
        }),
        response: answers(
          { 201: Type.Object({ key: ApiKeySchema, api_key: PlaintextSchema }) },
          400,
          401,
          403,
          409,
        ),
      },
    },
    async (request, reply) => {
      const caller = callerOf(request);
      refuseStatus(caller, 'deleted');
      const { name, kind = 'backend' } = request.body;
      const created = await createKey(deps, caller, { name, kind });
      return reply.code(201).send({ key: renderApiKey(created.key), api_key: created.plaintext });
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
        summary: 'Revoke a key at once',
        security,
        params: IdSchema,
        querystring: Type.Object({
          confirm: Type.Optional(
            Type.String({ description: '`stop-service`: also the last working key of its kind' }),
          ),
        }),
        response: answers({ 204: Type.Null({ description: 'Revoked' }) }, 400, 401, 403, 404, 409),
      },
      config: { emptyBody: true },
    },
    async (request, reply) => {
      const caller = callerOf(request);
      refuseStatus(caller, 'deleted');
      await revokeKey(deps, caller, request.params.id, {
        stopServiceConfirmed: request.query.confirm === 'stop-service',
      });
      return reply.code(204).send(null);
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
        summary: 'Replace a key; the old one works on for the overlap',
        security,
        params: IdSchema,
        body: RotationSchema,
        response: answers(
          {
            201: Type.Object({
              key: ApiKeySchema,
              api_key: PlaintextSchema,
              old_key_retires: Type.String({ format: 'date-time' }),
            }),
          },
          400,
          401,
          403,
          404,
          409,
        ),
      },
      config: { optionalBody: true },
    },
    async (request, reply) => {
      const caller = callerOf(request);
      refuseStatus(caller, 'deleted');
      const overlapSeconds = request.body.overlap_seconds ?? OVERLAP_SECONDS_DEFAULT;
      const rotated = await rotateKey(deps, caller, request.params.id, overlapSeconds);
      return reply.code(201).send({
        key: renderApiKey(rotated.key),
        api_key: rotated.plaintext,
        old_key_retires: rotated.oldKeyRetires.toISOString(),
      });
    },
  );
}
