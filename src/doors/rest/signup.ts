/** `POST /v1/signup`. Source: specification 4.2. */

import { signUp } from '../../access/signup/sign-up.ts';
import { Type } from '../../base/lib/schema.ts';
import { EMAIL_LENGTH_MAX, renderTenantId, TENANT_NAME_LENGTH_MAX } from '../../base/tenants/tenant.ts';
import { open } from './route.ts';
import { strictObject } from './schemas.ts';

export const signupRoute = open(
  {
    path: 'POST /v1/signup',
    tag: 'Signup',
    operation: 'signUp',
    summary: 'Create a tenant, its first backend key and a checkout',
    description:
      'Five an hour for one client address. The answer has the first key, which no later answer shows.',
    body: strictObject({
      email: Type.String({
        format: 'email',
        maxLength: EMAIL_LENGTH_MAX,
        description: 'The address of the customer',
      }),
      name: Type.String({
        minLength: 1,
        maxLength: TENANT_NAME_LENGTH_MAX,
        description: 'The name of the customer',
      }),
    }),
    answer: {
      201: Type.Object(
        {
          tenant: Type.String({ description: 'The id of the tenant' }),
          status: Type.Literal('pending', { description: 'Until the first payment' }),
          api_key: Type.String({ description: 'The plaintext of the key `default`, shown once' }),
          key_id: Type.String({ description: 'The id of this key' }),
          checkout_url: Type.String({
            description: 'A page to pay on. Empty when no checkout could be opened',
          }),
          note: Type.String({ description: 'A reminder that the key is shown once' }),
        },
        { description: 'Created' },
      ),
    },
    errors: [429],
  },
  async ({ deps, body, request, reply }) => {
    const signedUp = await signUp(deps, { ...body, address: request.ip });
    return reply.code(201).send({
      tenant: renderTenantId(signedUp.tenant),
      status: 'pending',
      api_key: signedUp.apiKey,
      key_id: signedUp.keyId,
      checkout_url: signedUp.checkoutUrl,
      note: 'Keep api_key safe: it is shown this once and cannot be retrieved again.',
    });
  },
);
