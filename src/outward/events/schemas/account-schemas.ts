/** Schemas of what is told of the tenant, its keys and its webhooks. */
import { DeviceCredentialSchema } from '../../../access/devices/device-credential-schema.ts';
import { KEY_KINDS } from '../../../access/keys/api-key.ts';
import { ApiKeySchema } from '../../../access/keys/key-schema.ts';
import { described, Type, time, words } from '../../../base/lib/schema.ts';
import { TENANT_STATUSES } from '../../../base/tenants/tenant.ts';
import { admitted } from './money-schemas.ts';

export const TenantStatusSchema = Type.Object(
  {
    from: words(TENANT_STATUSES, { description: 'The status before' }),
    to: words(TENANT_STATUSES, { description: 'The status after' }),
    exempt: Type.Boolean({ description: 'Whether usage is accepted without being charged' }),
    admitted,
  },
  { description: 'The status of the tenant' },
);

/** What a rotation has replaced. */
const replaced = {
  replaced_id: Type.Optional(
    Type.String({ description: 'The id of the old one. Absent: it was not rotated' }),
  ),
  replaced_retires_at: Type.Optional(time('When the old one stops working. Absent: it was not rotated')),
};

export const ApiKeyChangeSchema = Type.Object(
  { key: described(ApiKeySchema, 'The key. After a rotation, the new one'), ...replaced },
  { description: 'A change of an API key' },
);

export const DeviceCredentialChangeSchema = Type.Object(
  {
    credential: described(DeviceCredentialSchema, 'The credential. After a rotation, the new one'),
    ...replaced,
  },
  { description: 'A change of a device credential' },
);

export const KeyRetirementSchema = Type.Object(
  {
    key_id: Type.String({ description: 'The id of the old API key or device credential' }),
    name: Type.String({ description: 'Its name' }),
    kind: words([...KEY_KINDS, 'device'] as const, { description: '`device`: a device credential' }),
    retires_at: time('When it stops working'),
  },
  { description: 'A key that a rotation replaced' },
);

export const WebhookPauseSchema = Type.Object(
  {
    webhook_id: Type.String({ description: 'The id of the webhook' }),
    host: Type.String({ description: 'The host of its address, and the port if it has one' }),
    description: Type.Optional(Type.String({ description: 'As given. Absent: it has none' })),
    reason: words(['failing', 'gone'] as const, {
      description: '`failing`: the last attempt of a delivery failed; `gone`: the answer was 410',
    }),
    seq: Type.Integer({ description: 'The number of the event that could not be delivered' }),
    attempts: Type.Integer({ description: 'How often that was tried' }),
    status: Type.Optional(
      Type.Integer({ description: 'The status of the last answer. Absent: there was none' }),
    ),
    error: Type.Optional(Type.String({ description: 'Why there was no answer. Absent: there was one' })),
  },
  { description: 'A webhook that was paused' },
);
