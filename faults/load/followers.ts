/** Relays that read what was revoked: a snapshot holds everything that was confirmed before it was asked for. */
import { type Client, withAnswer } from './client.ts';
import { claimsOf } from './grpc.ts';
import { send } from './http.ts';
import { kind } from './kind.ts';

interface Step {
  readonly service: number;
}

interface Snapshot {
  readonly seq: number;
  readonly closed: readonly string[];
  readonly epochs: readonly (readonly [string, number])[];
  readonly credentials: readonly string[];
}

export const followers = kind<Step>({
  name: 'followers',
  clients: 1,
  pauseSeconds: 2,
  draw: (random) => ({ service: random.integer(0, 1) }),
  open: async (client) => async (step) => void (await readRevocations(client, step)),
});

async function readRevocations(client: Client, { service }: Step): Promise<void> {
  const { id: tenant } = client.tenant;
  await client.record('revocations.read', { tenant, service }, async () => {
    const reply = await send(client.stage.service(service).url, {
      method: 'GET',
      path: `/v1/revocations/${tenant}`,
      address: client.newAddress(),
    });
    return withAnswer(reply, () => {
      const { seq, closed, epochs, credentials } = claimsOf(reply.text) as Snapshot;
      return { seq, closed, epochs, credentials };
    });
  });
}
