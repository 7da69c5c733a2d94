/** The schema of a device credential on the wire. */
import { Type, time, words } from '../../base/lib/schema.ts';
import { KEY_ID_PATTERN } from '../keys/api-key.ts';
import { keyLife } from '../keys/key-schema.ts';
import { PUBLISH_RIGHTS } from '../rights/publish-rights.ts';

export const DeviceCredentialSchema = Type.Object(
  {
    id: Type.String({ pattern: KEY_ID_PATTERN, description: 'The second part of the plaintext' }),
    name: Type.String({ description: 'As given when it was created' }),
    publish: Type.Array(words(PUBLISH_RIGHTS), { description: 'What devices that join with it may send' }),
    rooms: Type.Optional(
      Type.Array(Type.String(), { description: 'Names and patterns of rooms. Absent: every room' }),
    ),
    default_room: Type.Optional(
      Type.String({ description: 'The room of a join that names none. Absent: `lobby`' }),
    ),
    expires_at: Type.Optional(time('Until when it works. Absent: without an end')),
    ...keyLife,
  },
  { description: 'What a device without a back end joins rooms with, without its secret' },
);
