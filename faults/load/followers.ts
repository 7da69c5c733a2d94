/**
 * Relays that learn what was revoked. Some read: a snapshot holds everything that was confirmed before it was asked for. Others are
 * told: they keep a stream open, at the other service whenever it ends, until the campaign is over.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { readEvents } from '../../sdk/typescript/src/relay/event-stream.ts';
import type { Reply } from '../journal.ts';
import type { Args } from '../operations.ts';
import { Client, TWINS, withAnswer } from './client.ts';
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

type Following = Args<'revocations.follow'>;

/** Each hash of a snapshot; that of a user with its epoch. */
type Held = ReadonlyMap<string, number>;

/** Something comes every 25 seconds: a stream that was silent for so long is taken for dead. */
const SILENCE_MS_MAX = 40_000;
const COME_BACK_MS = 250;
const CHARACTERS_MAX = 2 ** 24;

export const followers = kind<Step>({
  name: 'followers',
  clients: 1,
  pauseSeconds: 2,
  draw: (random) => ({ service: random.integer(0, 1) }),
  open: async (client) => {
    void follow(new Client(client.number + TWINS, client.tenant, client.shared));
    return async (step) => void (await readRevocations(client, step));
  },
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

/** Also after the end of the load: what is told then has no fault beside it. */
async function follow(client: Client): Promise<void> {
  const { stage, givesUp } = client.shared;
  const { id: tenant, index } = client.tenant;
  for (let stream = 0; !givesUp.aborted; stream += 1) {
    const following = { tenant, service: (index + stream) % stage.places.length, stream };
    await client.record('revocations.follow', following, () => readStream(client, following));
    await sleep(COME_BACK_MS, undefined, { signal: givesUp }).catch(() => {});
  }
}

/** Resolves when the stream has ended. */
async function readStream(client: Client, following: Following): Promise<Reply> {
  const silent = new AbortController();
  const timer = setTimeout(() => silent.abort(), SILENCE_MS_MAX);
  let status: number | undefined;
  try {
    const answer = await fetch(
      `${client.stage.service(following.service).url}/v1/revocations/${following.tenant}`,
      {
        headers: { accept: 'text/event-stream', 'x-forwarded-for': client.newAddress() },
        signal: AbortSignal.any([silent.signal, client.shared.givesUp]),
      },
    );
    ({ status } = answer);
    let held: Held = new Map();
    if (answer.ok)
      for await (const { event, data } of readEvents(answer.body ?? [], CHARACTERS_MAX)) {
        timer.refresh();
        if (event === 'revocations') held = await tell(client, following, held, claimsOf(data) as Snapshot);
      }
  } catch {
    // It was cut.
  } finally {
    clearTimeout(timer);
  }
  return status === undefined
    ? { outcome: 'unknown' }
    : { outcome: status === 200 ? 'ok' : 'refused', status };
}

/** Written down is what differs from before: the whole is told again and again. */
async function tell(client: Client, following: Following, before: Held, snapshot: Snapshot): Promise<Held> {
  const { seq, closed, epochs, credentials } = snapshot;
  const held = new Map([...epochs, ...[...closed, ...credentials].map((hash) => [hash, 0] as const)]);
  const told = [...held].filter(([hash, epoch]) => before.get(hash) !== epoch);
  const gone = [...before.keys()].filter((hash) => !held.has(hash));
  await client.record('revocations.told', following, async () => ({
    outcome: 'ok',
    answer: { seq, told, gone },
  }));
  return held;
}
