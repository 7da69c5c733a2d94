/** `/v1/keys` and below. Source: specification 4.7 to 4.10. */

import { KEY_KINDS } from '../../access/keys/api-key.ts';
import { createKey } from '../../access/keys/create-key.ts';
import { ApiKeySchema } from '../../access/keys/key-schema.ts';
import { KEYS_PAGE_SIZE, listKeys } from '../../access/keys/list-keys.ts';
import { revokeKey } from '../../access/keys/revoke-key.ts';
import { rotateKey } from '../../access/keys/rotate-key.ts';
import { OVERLAP_SECONDS_DEFAULT } from '../../access/keys/rotation-overlap.ts';
import { Type, time, words } from '../../base/lib/schema.ts';
import { CursorSchema, nextCursor, noSuchPage, parseCursor, renderCursor } from './paging.ts';
import { change, plain } from './route.ts';
import {
  IdSchema,
  KeyNameSchema,
  PlaintextSchema,
  RotationSchema,
  renderApiKey,
  strictObject,
} from './schemas.ts';

const list = plain(
  {
    path: 'GET /v1/keys',
    key: 'backend',
    closedTo: 'deleted',
    queue: 'calls',
    tag: 'Keys',
    operation: 'listKeys',
    summary: 'All keys, revoked ones too',
    description: `Oldest first, ${KEYS_PAGE_SIZE} at once, and without their secrets, which nothing can show again.`,
    query: CursorSchema,
    answer: {
      200: Type.Object(
        { keys: Type.Array(ApiKeySchema, { description: 'The keys' }), ...nextCursor },
        { description: 'A page of them' },
      ),
    },
  },
  async ({ deps, caller, query }) => {
    const page = await listKeys(deps.db, caller.tenant, parseCursor(query.cursor));
    if (!page) throw noSuchPage();
    return { keys: page.keys.map(renderApiKey), ...renderCursor(page.end) };
  },
);

const create = change(
  {
    path: 'POST /v1/keys',
    key: 'backend',
    closedTo: 'deleted',
    queue: 'calls',
    tag: 'Keys',
    operation: 'createKey',
    summary: 'Create a key',
    description: 'The answer has its plaintext, which no later answer shows.',
    body: strictObject({
      name: KeyNameSchema,
      kind: Type.Optional(
        words(KEY_KINDS, {
          default: 'backend',
          description: '`backend`: everything of the tenant; `relay`: reports of usage',
        }),
      ),
    }),
    answer: {
      201: Type.Object({ key: ApiKeySchema, api_key: PlaintextSchema }, { description: 'Created' }),
    },
    errors: [409],
    audit: ['key_created'],
  },
  async (tx, { deps, caller, body }) => {
    const { name, kind = 'backend' } = body;
    const { key, plaintext } = await createKey(tx, deps.config, caller, { name, kind });
    return { key: renderApiKey(key), api_key: plaintext };
  },
);

const revoke = change(
  {
    path: 'DELETE /v1/keys/:id',
    key: 'backend',
    closedTo: 'deleted',
    queue: 'calls',
    tag: 'Keys',
    operation: 'revokeKey',
    summary: 'Revoke a key at once',
    description:
      'The key that makes the request cannot be revoked: 400. The last working key of its kind needs `confirm`.',
    params: IdSchema,
    query: Type.Object({
      confirm: Type.Optional(
        Type.String({ description: '`stop-service`: also the last working key of its kind' }),
      ),
    }),
    answer: { 204: Type.Null({ description: 'Revoked' }) },
    errors: [404, 409],
    audit: ['key_revoked'],
  },
  async (tx, { caller, params, query }) => {
    const stopServiceConfirmed = query.confirm === 'stop-service';
    await revokeKey(tx, caller, params.id, { stopServiceConfirmed });
    return null;
  },
);

const rotate = change(
  {
    path: 'POST /v1/keys/:id/rotate',
    key: 'backend',
    closedTo: 'deleted',
    queue: 'calls',
    tag: 'Keys',
    operation: 'rotateKey',
    summary: 'Replace a key; the old one works on for the overlap',
    description: 'The replacement has the same name and kind. The key that makes the request may be rotated.',
    params: IdSchema,
    body: RotationSchema,
    isBodyOptional: true,
    answer: {
      201: Type.Object(
        {
          key: ApiKeySchema,
          api_key: PlaintextSchema,
          old_key_retires: time('Until when the old key works'),
        },
        { description: 'Replaced' },
      ),
    },
    errors: [404, 409],
    audit: ['key_rotated'],
  },
  async (tx, { deps, caller, params, body }) => {
    const overlapSeconds = body.overlap_seconds ?? OVERLAP_SECONDS_DEFAULT;
    const old = { keyId: params.id, overlapSeconds };
    const { key, plaintext, oldKeyRetires } = await rotateKey(tx, deps.config, caller, old);
    return {
      key: renderApiKey(key),
      api_key: plaintext,
      old_key_retires: oldKeyRetires.toISOString(),
    };
  },
);

export const keyRoutes = [list, create, revoke, rotate];
