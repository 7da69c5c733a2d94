/** Schemas of API keys on the wire. Source: specification 2.4. */
import { Type, time, words } from '../../base/lib/schema.ts';
import { KEY_ID_PATTERN, KEY_KINDS } from './api-key.ts';

/** Members of API keys and device credentials. */
export const keyLife = {
  created_at: time('When it was created'),
  retires_at: Type.Optional(time('Until when it works beside its replacement. Absent: it was not rotated')),
  revoked_at: Type.Optional(time('When it was revoked or retired. Absent: it was not')),
};

export const ApiKeySchema = Type.Object(
  {
    id: Type.String({ pattern: KEY_ID_PATTERN, description: 'The second part of the plaintext' }),
    name: Type.String({ description: 'As given when it was created' }),
    kind: words(KEY_KINDS, { description: '`backend`: everything of the tenant; `relay`: reports of usage' }),
    ...keyLife,
  },
  { description: 'An API key, without its secret' },
);
