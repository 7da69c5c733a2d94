/** `/v1/mail`: who gets mail about the tenant. */
import { type Static, Type } from '../../base/lib/schema.ts';
import { EMAIL_LENGTH_MAX } from '../../base/tenants/tenant.ts';
import { getMailSettings } from '../../outward/mail/get-mail-settings.ts';
import {
  ADDRESSES_MAX,
  DEFAULT_SETTINGS,
  type MailRecipients,
  parseMailSettings,
} from '../../outward/mail/mail-settings.ts';
import { setMailSettings } from '../../outward/mail/set-mail-settings.ts';
import { change, plain } from './route.ts';
import { strictObject } from './schemas.ts';

const SettingsSchema = Type.Object(
  {
    signup_address: Type.Boolean({ description: 'Whether `email` gets mail' }),
    email: Type.String({ description: 'The address given at signup' }),
    addresses: Type.Array(Type.String({ description: 'A mail address' }), {
      maxItems: ADDRESSES_MAX,
      description: 'Further addresses that get mail',
      examples: [['ops@example.com']],
    }),
    alerts: Type.Boolean({
      description: 'Whether mails tell about what needs attention, such as a low balance',
    }),
    receipts: Type.Boolean({ description: 'Whether mails confirm payments' }),
    unsubscribed: Type.Array(Type.String({ description: 'A mail address, in lower case' }), {
      description: 'Their owners want no alerts of this tenant. Only a link in an alert changes that',
    }),
  },
  { description: 'The settings' },
);

const showSettings = plain(
  {
    path: 'GET /v1/mail',
    key: 'backend',
    closedTo: 'suspended',
    queue: 'calls',
    tag: 'Billing',
    operation: 'getMailSettings',
    summary: 'Who gets mail about the account',
    description: 'Until they are set, the address given at signup gets alerts and receipts.',
    answer: { 200: SettingsSchema },
  },
  async ({ deps, caller }) => {
    return renderSettings(await getMailSettings(deps.db, caller.tenant));
  },
);

const changeSettings = change(
  {
    path: 'PUT /v1/mail',
    key: 'backend',
    closedTo: 'suspended',
    queue: 'calls',
    tag: 'Billing',
    operation: 'setMailSettings',
    summary: 'Choose who gets mail about the account',
    description: 'Replaces all settings. Addresses that differ only in case are one address.',
    body: strictObject({
      addresses: Type.Array(
        Type.String({ maxLength: EMAIL_LENGTH_MAX, description: 'A mail address, in ASCII' }),
        {
          maxItems: ADDRESSES_MAX,
          description: 'Further addresses that get mail',
          examples: [['ops@example.com']],
        },
      ),
      alerts: Type.Boolean({
        description: 'Whether mails tell about what needs attention, such as a low balance',
      }),
      receipts: Type.Boolean({ description: 'Whether mails confirm payments' }),
      signup_address: Type.Optional(
        Type.Boolean({
          default: DEFAULT_SETTINGS.signupAddress,
          description: 'Whether the address given at signup gets mail',
        }),
      ),
    }),
    answer: { 200: SettingsSchema },
    parse: ({ body }) => {
      const { addresses, alerts, receipts, signup_address = DEFAULT_SETTINGS.signupAddress } = body;
      return parseMailSettings({ addresses, alerts, receipts, signupAddress: signup_address });
    },
    audit: ['mail_settings_changed'],
  },
  async (tx, { caller, input }) => {
    return renderSettings(await setMailSettings(tx, caller.actor, caller.tenant, input));
  },
);

function renderSettings(settings: MailRecipients): Static<typeof SettingsSchema> {
  const { email, signupAddress, addresses, alerts, receipts, unsubscribed } = settings;
  return {
    signup_address: signupAddress,
    email,
    addresses: [...addresses],
    alerts,
    receipts,
    unsubscribed: [...unsubscribed],
  };
}

export const mailRoutes = [showSettings, changeSettings];
