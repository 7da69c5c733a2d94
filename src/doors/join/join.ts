/** `POST /join`. Source: specification 4.11. */
import Type, { type TSchema } from 'typebox';
import { ROOM_NAME_PATTERN } from '../../access/rights/room-names.ts';
import { findThumbprint } from '../../access/tokens/device-key.ts';
import { prepareUsername } from '../../access/usernames/username.ts';
import { invalidRequest } from '../../base/failure.ts';
import { parseAddress } from '../../base/lib/address.ts';
import { renderTenantId } from '../../base/tenants/tenant.ts';
import { joinRoom } from '../../control/admission/join-room.ts';
import type { Deps } from '../deps.ts';
import type { Http } from '../http/http.ts';
import { deviceOf, requireDevice } from './auth.ts';
import { BODY_BYTES_MAX } from './limits.ts';

const COORDINATE = Type.String({ pattern: '^[A-Za-z0-9_-]{43}$' });

/** A public key as WebCrypto exports it. A private key has members that this schema does not allow. */
const KeySchema = closed({
  kty: word('EC'),
  crv: word('P-256'),
  x: COORDINATE,
  y: COORDINATE,
  ext: Type.Optional(Type.Boolean()),
  key_ops: Type.Optional(Type.Array(Type.String())),
  alg: Type.Optional(Type.String()),
  use: Type.Optional(Type.String()),
  kid: Type.Optional(Type.String()),
});

const BodySchema = closed({
  tenant: Type.Optional(Type.String()),
  username: Type.String(),
  room: Type.Optional(Type.String({ pattern: ROOM_NAME_PATTERN })),
  key: Type.Optional(KeySchema),
  device: Type.Optional(Type.String()),
});

const AnswerSchema = Type.Object({
  token: Type.String(),
  expiresAt: Type.String(),
  room: Type.String(),
  username: Type.String(),
  keyId: Type.String(),
  device: Type.String(),
});

/** A union of one word, so that a refusal names the word. */
function word<const T extends string>(value: T) {
  return Type.Unsafe<T>({ type: 'string', enum: [value] });
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
      const device = deviceOf(request);
      const { tenant, room } = request.body;
      const thumbprint = await findThumbprint(request.body);
      const username = prepareUsername(request.body.username);
      if (username === undefined) {
        throw invalidRequest('username must be 1 to 64 characters that a username may hold (RFC 8265)');
      }

      const wanted = { tenant, room, username, thumbprint, address: parseAddress(request.ip) };
      const joined = await deps.calls.run(device, () => joinRoom(deps, device, wanted));
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
