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
import type { Deps } from '../deps.ts';
import { answers } from '../http/answers.ts';
import type { Http } from '../http/http.ts';
import { callerOf, refuseStatus, requireKey } from './auth.ts';
import { IdempotencySchema, write } from './idempotency.ts';
import { body } from './schemas.ts';

const security = [{ backend_key: [] }];
const tags = ['Billing'];

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

export function mailRoutes(app: Http, deps: Deps): void {
  showSettings(app, deps);
  changeSettings(app, deps);
}

function showSettings(app: Http, deps: Deps): void {
  app.get(
    '/v1/mail',
    {
      onRequest: requireKey(deps, 'backend'),
      schema: {
        tags,
        operationId: 'getMailSettings',
        summary: 'Who gets mail about the account',
        description: 'Until they are set, the address given at signup gets alerts and receipts.',
        security,
        response: answers({ 200: SettingsSchema }, 401, 403),
      },
    },
    async (request) => {
      const caller = callerOf(request);
      refuseStatus(caller, 'suspended', 'archived', 'deleted');
      return renderSettings(await getMailSettings(deps.db, caller.tenant));
    },
  );
}

function changeSettings(app: Http, deps: Deps): void {
  app.put(
    '/v1/mail',
    {
      onRequest: requireKey(deps, 'backend'),
      schema: {
        tags,
        operationId: 'setMailSettings',
        summary: 'Choose who gets mail about the account',
        description: 'Replaces all settings. Addresses that differ only in case are one address.',
        security,
        headers: IdempotencySchema,
        body: body({
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
        response: answers({ 200: SettingsSchema }, 401, 403, 408, 422),
      },
    },
    async (request, reply) => {
      const caller = callerOf(request);
      const { addresses, alerts, receipts } = request.body;
      const signupAddress = request.body.signup_address ?? DEFAULT_SETTINGS.signupAddress;
      const wanted = parseMailSettings({ addresses, alerts, receipts, signupAddress });
      refuseStatus(caller, 'suspended', 'archived', 'deleted');
      await write(deps, request, reply.code(200), async (tx) =>
        renderSettings(await setMailSettings(tx, caller.actor, caller.tenant, wanted)),
      );
      return reply;
    },
  );
}

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
