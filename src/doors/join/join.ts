/** `POST /join`. Source: specification 4.11. */

import { ROOM_NAME_PATTERN } from '../../access/rights/room-names.ts';
import { findThumbprint } from '../../access/tokens/device-key.ts';
import { prepareUsername } from '../../access/usernames/username.ts';
import { invalidRequest } from '../../base/failure.ts';
import { parseAddress } from '../../base/lib/address.ts';
import { described, type TSchema, Type } from '../../base/lib/schema.ts';
import { renderTenantId } from '../../base/tenants/tenant.ts';
import { joinRoom } from '../../control/admission/join-room.ts';
import type { Deps } from '../deps.ts';
import { answersInText } from '../http/answers.ts';
import type { Http } from '../http/http.ts';
import { arrive, requireDevice } from './auth.ts';
import { BODY_BYTES_MAX } from './limits.ts';

const COORDINATE = Type.String({
  pattern: '^[A-Za-z0-9_-]{43}$',
  description: 'A coordinate of the point, in base64url',
});

const IGNORED = { description: 'Accepted, because WebCrypto exports it; not used' };

/** A public key as WebCrypto exports it. A private key has members that this schema does not allow. */
const KeySchema = closed({
  kty: word('EC', 'The kind of key'),
  crv: word('P-256', 'The curve'),
  x: COORDINATE,
  y: COORDINATE,
  ext: Type.Optional(Type.Boolean(IGNORED)),
  key_ops: Type.Optional(Type.Array(Type.String(), IGNORED)),
  alg: Type.Optional(Type.String(IGNORED)),
  use: Type.Optional(Type.String(IGNORED)),
  kid: Type.Optional(Type.String(IGNORED)),
});

const BodySchema = closed({
  tenant: Type.Optional(Type.String({ description: "If given, the credential's tenant" })),
  username: Type.String({ description: 'The name to join as; the service normalizes it' }),
  room: Type.Optional(
    Type.String({ pattern: ROOM_NAME_PATTERN, description: "Left out: the credential's default room" }),
  ),
  key: Type.Optional(described(KeySchema, "The device's public key. Either this or `device` is required")),
  device: Type.Optional(Type.String({ description: 'The thumbprint of the key (RFC 7638)' })),
});

const AnswerSchema = Type.Object(
  {
    token: Type.String({ description: 'What the device shows to relays, with a proof of its key' }),
    expiresAt: Type.String({ format: 'date-time', description: 'When the token expires' }),
    room: Type.String({ description: 'The room of the token' }),
    username: Type.String({ description: 'The normalized name' }),
    keyId: Type.String({ description: 'The id of the key that signed the token' }),
    device: Type.String({ description: "The thumbprint of the device's key" }),
  },
  { description: 'A token that works with the key of this device alone' },
);

/** How the reference describes the route. REST serves the reference, so the service hands it over. */
export const JOIN_DESCRIPTION = {
  method: 'POST',
  url: '/join',
  schema: {
    operationId: 'join',
    tags: ['Joining'],
    summary: 'Let a device join a room',
    description:
      'At this address, unless the deployment has a join host of its own. At most 4 KiB, and 30 requests a minute ' +
      'with one credential. Errors are one line of plain text.',
    security: [{ device_credential: [] }],
    body: BodySchema,
    response: answersInText({ 200: AnswerSchema }, 401, 402, 403, 404, 405, 408, 409, 429, 503, 504),
  },
};

/** A union of one word, so that a refusal names the word. */
function word<const T extends string>(value: T, description: string) {
  return Type.Unsafe<T>({ type: 'string', enum: [value], description });
}

function closed<T extends Record<string, TSchema>>(fields: T) {
  return Type.Object(fields, { additionalProperties: false });
}

export function joinRoute(app: Http, deps: Deps): void {
  app.post(
    '/join',
    {
      bodyLimit: BODY_BYTES_MAX,
      schema: { hide: true, body: BodySchema, response: { 200: AnswerSchema } },
      onRequest: async (request) => requireDevice(deps, request),
    },
    async (request) => {
      const { tenant, room } = request.body;
      const thumbprint = findThumbprint(request.body);
      const username = prepareUsername(request.body.username);
      if (username === undefined) {
        throw invalidRequest('username must be 1 to 64 characters that a username may hold (RFC 8265)');
      }

      const joining = { tenant, room, username, thumbprint, address: parseAddress(request.ip) };
      const { device, state } = await arrive(deps, request, joining);
      const joined = await deps.gatheredCalls.run(device, (hasWaited) =>
        joinRoom(deps, device, joining, hasWaited ? undefined : state),
      );
      request.log.info(
        { tenant: renderTenantId(device.tenant), room: joined.room, jti: joined.jti, kid: joined.kid },
        'joined',
      );
      return {
        token: joined.token,
        expiresAt: joined.expiresAt.toISOString(),
        room: joined.room,
        username,
        keyId: joined.kid,
        device: thumbprint,
      };
    },
  );
}
