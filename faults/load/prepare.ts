/** The tenants of a campaign before anything goes wrong: signed up, paid, with webhooks. */
import { setLimits } from '../../test/support/tenants.ts';
import { Client, type Shared } from './client.ts';
import { checkout, payAt } from './payments.ts';
import { signUp } from './sign-up.ts';
import { Tenant } from './tenant.ts';

/** The number of the client that prepares the first tenant. */
const PREPARING = 20_000;
/** Before a tenant has signed up. */
const NONE = new Tenant(0, '', { id: '', plaintext: '' });
/** Cents, for a tenant whose credit does not end. */
const RICH = 1_000_000;
const ORDERS = ['tenant', 'room', 'none'] as const;
/** So that payments and revoked credentials of a campaign meet no limit of an hour or of 15 minutes. */
const LIMITS = { checkouts_per_hour: 100_000, device_credentials: 100_000, api_keys: 10_000 };

export async function prepareTenant(index: number, shared: Shared): Promise<Tenant> {
  const number = PREPARING + index;
  const signer = new Client(number, NONE, shared);
  const signedUp = await signUp(signer, `t${index}`, index % 2, index);
  if (signedUp === undefined) throw new Error(`no service answers the signup of tenant ${index}`);
  const { tenant, checkoutUrl } = signedUp;
  const client = new Client(number, tenant, shared);
  await setLimits(shared.stage.db, tenant, LIMITS);
  payAt(client, checkoutUrl);
  await shared.stage.provider.control.idle();
  if (tenant.isRich) payAt(client, (await checkout(client, 0, RICH)).json.checkout_url);
  for (const order of ORDERS) await createWebhook(client, order);
  await shared.stage.provider.control.idle();
  return tenant;
}

async function createWebhook(client: Client, order: (typeof ORDERS)[number]): Promise<void> {
  const path = `/t${client.tenant.index}/${order}`;
  client.stage.receivers.set(path, 'accept');
  const { outcome, json } = await client.rest(
    'webhook.create',
    { path, order },
    {
      ...{ method: 'POST', path: '/v1/webhooks', key: client.tenant.key, service: 0 },
      body: { url: client.stage.receivers.url(path), order, ...(order === 'none' && { max_batch: 5 }) },
    },
    ({ webhook }) => ({ webhook }),
  );
  if (outcome !== 'ok') throw new Error(`no webhook at ${path}`);
  client.stage.receivers.learn(path, json);
}
