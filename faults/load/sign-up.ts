/** A tenant signs up, as its first operation. */
import type { Client } from './client.ts';
import { withAnswer } from './client.ts';
import { send } from './http.ts';
import { Tenant } from './tenant.ts';

export interface SignedUp {
  readonly tenant: Tenant;
  /** Empty: none could be opened. */
  readonly checkoutUrl: string;
}

/** `undefined`: it failed, or there was no answer. */
export async function signUp(
  client: Pick<Client, 'record' | 'stage' | 'newAddress' | 'shared'>,
  name: string,
  service: number,
  index = 0,
): Promise<SignedUp | undefined> {
  const email = `${name}@example.com`;
  const reply = await client.record('signup', { email, service }, async () => {
    const request = {
      method: 'POST',
      path: '/v1/signup',
      body: { email, name },
      address: client.newAddress(),
    };
    const answer = await send(client.stage.service(service).url, request as never);
    return withAnswer(answer, ({ tenant, key_id }) => ({ tenant, key_id }));
  });
  if (reply.outcome !== 'ok') return undefined;
  const { tenant: id, key_id, api_key, checkout_url } = reply.json;
  const tenant = new Tenant(index, id, { id: key_id, plaintext: api_key });
  client.shared.tenants.push(tenant);
  return { tenant, checkoutUrl: checkout_url };
}
