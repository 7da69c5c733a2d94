/** `/v1/device-credentials` and below. Source: specification 5, 6. */

import { createCredential } from '../../access/devices/create-credential.ts';
import { ROOM_PATTERNS_MAX } from '../../access/devices/device-credential.ts';
import { DeviceCredentialSchema } from '../../access/devices/device-credential-schema.ts';
import { listCredentials } from '../../access/devices/list-credentials.ts';
import { revokeCredential } from '../../access/devices/revoke-credential.ts';
import { rotateCredential } from '../../access/devices/rotate-credential.ts';
import { OVERLAP_SECONDS_DEFAULT } from '../../access/keys/rotation-overlap.ts';
import { PUBLISH_RIGHTS } from '../../access/rights/publish-rights.ts';
import { ROOM_NAME_PATTERN, ROOM_PATTERN_PATTERN } from '../../access/rights/room-names.ts';
import { invalidField } from '../../base/failure.ts';
import { Type, time, words } from '../../base/lib/schema.ts';
import { CursorSchema, nextCursor, noSuchPage, parseCursor, renderCursor } from './paging.ts';
import { change, plain } from './route.ts';
import {
  IdSchema,
  KeyNameSchema,
  PlaintextSchema,
  RotationSchema,
  renderDeviceCredential,
  strictObject,
} from './schemas.ts';

/** Each credential may list twenty patterns of rooms, which makes 150 KB; older ones list up to a hundred. */
const PAGE_SIZE = 50;

const list = plain(
  {
    path: 'GET /v1/device-credentials',
    key: 'backend',
    closedTo: 'deleted',
    queue: 'calls',
    tag: 'Device credentials',
    operation: 'listDeviceCredentials',
    summary: 'All device credentials, revoked and expired ones too',
    description: `Oldest first, ${PAGE_SIZE} at once, and without their secrets, which nothing can show again.`,
    query: CursorSchema,
    answer: {
      200: Type.Object(
        {
          device_credentials: Type.Array(DeviceCredentialSchema, { description: 'The credentials' }),
          ...nextCursor,
        },
        { description: 'A page of them' },
      ),
    },
  },
  async ({ deps, caller, query }) => {
    const after = parseCursor(query.cursor);
    const page = await listCredentials(deps.db, caller.tenant, after, PAGE_SIZE);
    if (!page) throw noSuchPage();
    return {
      device_credentials: page.credentials.map(renderDeviceCredential),
      ...renderCursor(page.end),
    };
  },
);

const create = change(
  {
    path: 'POST /v1/device-credentials',
    key: 'backend',
    closedTo: 'deleted',
    queue: 'calls',
    tag: 'Device credentials',
    operation: 'createDeviceCredential',
    summary: 'Create a device credential',
    description: 'A device without a back end joins rooms with it, at `POST /join`.',
    body: strictObject({
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
    answer: {
      201: Type.Object(
        { device_credential: DeviceCredentialSchema, credential: PlaintextSchema },
        { description: 'Created' },
      ),
    },
    errors: [409],
    audit: ['device_credential_created'],
  },
  async (tx, { caller, body }) => {
    const { name, publish, rooms = null, default_room = null, expires_at } = body;
    const expiresAt = expires_at === undefined ? null : parseTime(expires_at);
    const grant = { name, publish, rooms, defaultRoom: default_room, expiresAt };
    const created = await createCredential(tx, caller, grant);
    if (!created) throw invalidField('expires_at', 'must be in the future');
    return {
      device_credential: renderDeviceCredential(created.credential),
      credential: created.plaintext,
    };
  },
);

/** The format allows leap seconds, and years that a Date cannot hold. */
function parseTime(text: string): Date {
  const time = new Date(text);
  if (Number.isNaN(time.getTime())) throw invalidField('expires_at', 'must match format "date-time"');
  return time;
}

const revoke = change(
  {
    path: 'DELETE /v1/device-credentials/:id',
    key: 'backend',
    closedTo: 'deleted',
    queue: 'calls',
    tag: 'Device credentials',
    operation: 'revokeDeviceCredential',
    summary: 'Revoke a device credential at once',
    description:
      'No further join with it succeeds. Relays that follow the revocations end the sessions that it opened.',
    params: IdSchema,
    answer: { 204: Type.Null({ description: 'Revoked' }) },
    errors: [404],
    audit: ['device_credential_revoked'],
  },
  async (tx, { caller, params }) => {
    await revokeCredential(tx, caller, params.id);
    return null;
  },
);

const rotate = change(
  {
    path: 'POST /v1/device-credentials/:id/rotate',
    key: 'backend',
    closedTo: 'deleted',
    queue: 'calls',
    tag: 'Device credentials',
    operation: 'rotateDeviceCredential',
    summary: 'Replace a device credential; the old one works on for the overlap',
    description: 'The replacement has the same name, rights, rooms and end.',
    params: IdSchema,
    body: RotationSchema,
    isBodyOptional: true,
    answer: {
      201: Type.Object(
        {
          device_credential: DeviceCredentialSchema,
          credential: PlaintextSchema,
          old_credential_retires: time('Until when the old credential works'),
        },
        { description: 'Replaced' },
      ),
    },
    errors: [404, 409],
    audit: ['device_credential_rotated'],
  },
  async (tx, { caller, params, body }) => {
    const overlapSeconds = body.overlap_seconds ?? OVERLAP_SECONDS_DEFAULT;
    const rotated = await rotateCredential(tx, caller, params.id, overlapSeconds);
    return {
      device_credential: renderDeviceCredential(rotated.credential),
      credential: rotated.plaintext,
      old_credential_retires: rotated.oldCredentialRetires.toISOString(),
    };
  },
);

export const deviceCredentialRoutes = [list, create, revoke, rotate];
