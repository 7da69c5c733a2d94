/** Devices that join with a credential, which is revoked now and then and tried once more. */
import { generateKeyPairSync } from 'node:crypto';
import { type Client, withAnswer } from './client.ts';
import { send } from './http.ts';
import { kind } from './kind.ts';
import type { Secret } from './tenant.ts';
import { thumbprintOf, withToken } from './tokens.ts';

interface Step {
  readonly action: 'join' | 'replace';
  readonly service: number;
  readonly room: string;
  readonly username: string;
  /** Which of its devices. */
  readonly device: number;
}

const DEVICES = 3;
const PUBLISH = ['audio'];

export const joins = kind<Step>({
  name: 'joins',
  clients: 1,
  // 30 a minute are allowed for one credential.
  pauseSeconds: 1.5,
  draw: (random) => ({
    action: random.weighted({ join: 8, replace: 1 }),
    service: random.integer(0, 1),
    room: `r${random.integer(0, 3)}`,
    username: `u${random.integer(0, 7)}`,
    device: random.integer(0, DEVICES - 1),
  }),
  open: async (client) => {
    const devices = Array.from({ length: DEVICES }, () => newDevice());
    let credential = await createCredential(client, 0);
    return async ({ action, service, room, username, device }) => {
      credential ??= await createCredential(client, service);
      if (credential === undefined) return;
      const body = { room, username, key: devices[device]! };
      if (action === 'join') return void (await join(client, service, credential, body));
      await revokeCredential(client, service, credential);
      await join(client, 1 - service, credential, body);
      // A revoked credential goes on being tried while no other one may be created.
      credential = (await createCredential(client, service)) ?? credential;
    };
  },
});

function newDevice() {
  const { publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const { kty, crv, x, y } = publicKey.export({ format: 'jwk' });
  return { kty, crv, x, y };
}

/** `undefined` if it is refused: so many may be revoked in 15 minutes. */
async function createCredential(client: Client, service: number): Promise<Secret | undefined> {
  const body = { name: 'a device', publish: PUBLISH };
  const { outcome, json } = await client.change(
    'credential.create',
    {},
    service,
    { method: 'POST', path: '/v1/device-credentials', body },
    ({ device_credential }) => ({ id: device_credential.id }),
  );
  return outcome === 'ok' ? { id: json.device_credential.id, plaintext: json.credential } : undefined;
}

async function revokeCredential(client: Client, service: number, { id }: Secret): Promise<void> {
  const path = `/v1/device-credentials/${id}`;
  await client.change('credential.revoke', { id }, service, { method: 'DELETE', path });
}

async function join(
  client: Client,
  service: number,
  { id, plaintext }: Secret,
  body: { readonly room: string; readonly username: string; readonly key: ReturnType<typeof newDevice> },
): Promise<void> {
  const { room, username } = body;
  const asked = { room, username, device: thumbprintOf(body.key), role: 'audience', publish: PUBLISH };
  const args = { tenant: client.tenant.id, key: id, service, ...asked };
  await client.record('join', args, async () => {
    const request = { method: 'POST', path: '/join', key: plaintext, body } as const;
    const { url } = client.stage.service(service);
    const reply = await send(url, { ...request, address: client.newAddress() });
    // Errors of joins are plain text.
    if (reply.outcome === 'refused') return { ...reply, answer: { error: reply.text } };
    const answered = withAnswer(reply, ({ token: _, ...answer }) => answer);
    return reply.outcome === 'ok' ? withToken(answered, reply.json.token, client.stage) : answered;
  });
}
