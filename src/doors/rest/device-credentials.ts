/** `/v1/device-credentials` and below. Source: specification 5, 6. */

import { createCredential } from '../../access/devices/create-credential.ts';
import { ROOM_PATTERNS_MAX } from '../../access/devices/device-credential.ts';
import { listCredentials } from '../../access/devices/list-credentials.ts';
import { revokeCredential } from '../../access/devices/revoke-credential.ts';
import { rotateCredential } from '../../access/devices/rotate-credential.ts';
import { OVERLAP_SECONDS_DEFAULT } from '../../access/keys/rotation-overlap.ts';
import { PUBLISH_RIGHTS } from '../../access/rights/publish-rights.ts';
import { ROOM_NAME_PATTERN, ROOM_PATTERN_PATTERN } from '../../access/rights/room-names.ts';
import { invalidField } from '../../base/failure.ts';
import { Type } from '../../base/lib/schema.ts';
import type { Deps } from '../deps.ts';
import { answers } from '../http/answers.ts';
import type { Http } from '../http/http.ts';
import { callerOf, refuseStatus, requireKey } from './auth.ts';
import { IdempotencySchema, write } from './idempotency.ts';
import { CursorSchema, nextCursor, noSuchPage, parseCursor, renderCursor } from './paging.ts';
import {
  body,
  DeviceCredentialSchema,
  IdSchema,
  KeyNameSchema,
  PlaintextSchema,
  RotationSchema,
  renderDeviceCredential,
  time,
  words,
} from './schemas.ts';

const security = [{ backend_key: [] }];
const tags = ['Device credentials'];

/** Each credential may list twenty patterns of rooms, which makes 150 KB; older ones list up to a hundred. */
const PAGE_SIZE = 50;

export function deviceCredentialRoutes(app: Http, deps: Deps): void {
  list(app, deps);
  create(app, deps);
  revoke(app, deps);
  rotate(app, deps);
}

function list(app: Http, deps: Deps): void {
  app.get(
    '/v1/device-credentials',
    {
      onRequest: requireKey(deps, 'backend'),
      schema: {
        tags,
        operationId: 'listDeviceCredentials',
        summary: 'All device credentials, revoked and expired ones too',
        description: `Oldest first, ${PAGE_SIZE} at once, and without their secrets, which nothing can show again.`,
        security,
        querystring: CursorSchema,
        response: answers(
          {
            200: Type.Object(
              {
                device_credentials: Type.Array(DeviceCredentialSchema, { description: 'The credentials' }),
                ...nextCursor,
              },
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
      const after = parseCursor(request.query.cursor);
      const page = await listCredentials(deps.db, caller.tenant, after, PAGE_SIZE);
      if (!page) throw noSuchPage();
      return {
        device_credentials: page.credentials.map(renderDeviceCredential),
        ...renderCursor(page.end),
      };
    },
  );
}

function create(app: Http, deps: Deps): void {
  app.post(
    '/v1/device-credentials',
    {
      onRequest: requireKey(deps, 'backend'),
      schema: {
        tags,
        operationId: 'createDeviceCredential',
        summary: 'Create a device credential',
        description: 'A device without a back end joins rooms with it, at `POST /join`.',
        security,
        headers: IdempotencySchema,
        body: body({
          name: KeyNameSchema,
          publish: Type.Array(words(PUBLISH_RIGHTS), {
            uniqueItems: true,
            description: 'What devices that join with it may send. Empty: it cannot be joined with',
          }),
          rooms: Type.Optional(
            Type.Array(Type.String({ pattern: ROOM_PATTERN_PATTERN }), {
              minItems: 1,
              maxItems: ROOM_PATTERNS_MAX,
              description: 'Names of rooms; `*` stands for any characters. Left out: every room',
            }),
          ),
          default_room: Type.Optional(
            Type.String({
              pattern: ROOM_NAME_PATTERN,
              description: 'Where a join goes that names no room. Left out: `lobby`',
            }),
          ),
          expires_at: Type.Optional(time('Until when it works. Left out: without an end')),
        }),
        response: answers(
          {
            201: Type.Object(
              { device_credential: DeviceCredentialSchema, credential: PlaintextSchema },
              { description: 'Created' },
            ),
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
      const { name, publish, rooms = null, default_room = null, expires_at } = request.body;
      const expiresAt = expires_at === undefined ? null : parseTime(expires_at);
      const grant = { name, publish, rooms, defaultRoom: default_room, expiresAt };
      await write(deps, request, reply.code(201), async (tx) => {
        const created = await createCredential(tx, caller, grant);
        if (!created) throw invalidField('expires_at', 'must be in the future');
        return {
          device_credential: renderDeviceCredential(created.credential),
          credential: created.plaintext,
        };
      });
      return reply;
    },
  );
}

/** The format allows leap seconds, and years that a Date cannot hold. */
function parseTime(text: string): Date {
  const time = new Date(text);
  if (Number.isNaN(time.getTime())) throw invalidField('expires_at', 'must match format "date-time"');
  return time;
}

function revoke(app: Http, deps: Deps): void {
  app.delete(
    '/v1/device-credentials/:id',
    {
      onRequest: requireKey(deps, 'backend'),
      schema: {
        tags,
        operationId: 'revokeDeviceCredential',
        summary: 'Revoke a device credential at once',
        description: 'No further join with it succeeds. Tokens live on until they expire, for minutes.',
        security,
        headers: IdempotencySchema,
        params: IdSchema,
        response: answers({ 204: Type.Null({ description: 'Revoked' }) }, 401, 403, 404, 422),
      },
      config: { emptyBody: true },
    },
    async (request, reply) => {
      const caller = callerOf(request);
      refuseStatus(caller, 'deleted');
      await write(deps, request, reply.code(204), async (tx) => {
        await revokeCredential(tx, caller, request.params.id);
        return null;
      });
      return reply;
    },
  );
}

function rotate(app: Http, deps: Deps): void {
  app.post(
    '/v1/device-credentials/:id/rotate',
    {
      onRequest: requireKey(deps, 'backend'),
      schema: {
        tags,
        operationId: 'rotateDeviceCredential',
        summary: 'Replace a device credential; the old one works on for the overlap',
        description: 'The replacement has the same name, rights, rooms and end.',
        security,
        headers: IdempotencySchema,
        params: IdSchema,
        body: RotationSchema,
        response: answers(
          {
            201: Type.Object(
              {
                device_credential: DeviceCredentialSchema,
                credential: PlaintextSchema,
                old_credential_retires: time('Until when the old credential works'),
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
        const rotated = await rotateCredential(tx, caller, request.params.id, overlapSeconds);
        return {
          device_credential: renderDeviceCredential(rotated.credential),
          credential: rotated.plaintext,
          old_credential_retires: rotated.oldCredentialRetires.toISOString(),
        };
      });
      return reply;
    },
  );
}
