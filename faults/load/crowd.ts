/**
 * Tenants that never pay, and that ask for what they may not have: admission without credit, batches that are wrong, and more reads than a
 * page needs.
 */
import { RoomService } from '@boxoffice/contract/room_service';
import { TokenService } from '@boxoffice/contract/token_service';
import type { WireRecord } from '../operations.ts';
import { Client } from './client.ts';
import { kind } from './kind.ts';
import { readBilling } from './payments.ts';
import { signUp } from './sign-up.ts';
import type { Secret } from './tenant.ts';
import { drawRecord, newRelayKey, report } from './usage.ts';

const WEIGHTS = { usage: 4, 'refused usage': 2, garbage: 2, reads: 2, admission: 2, 'sign up': 0.1 };
/** Each client signs up no more: the check reads all views of every tenant. */
const TENANTS_MAX = 3;
const READS = 5;
const VIEWS = ['/v1/ledger', '/v1/usage/records', '/v1/keys', '/v1/sessions', '/v1/events'];
const BODIES: readonly unknown[] = [{ records: 'all' }, { records: [{}] }, [], { recrods: [] }];
/** More than a day. */
const SECONDS_TOO_MANY = 86_401;
const DEVICE = 'NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs';

interface Step {
  readonly action: keyof typeof WEIGHTS;
  readonly service: number;
  readonly place: number;
  readonly records: readonly Omit<WireRecord, 'id'>[];
}

interface Pauper {
  readonly client: Client;
  readonly relay: Secret;
}

export const crowd = kind<Step>({
  name: 'crowd',
  clients: 1,
  pauseSeconds: 1,
  draw: (random) => ({
    action: random.weighted(WEIGHTS),
    service: random.integer(0, 1),
    place: random.number(),
    records: Array.from({ length: random.integer(1, 10) }, () => drawRecord(random)),
  }),
  open: async (opener) => {
    const nameOf = (count: number) => `crowd-${opener.number}-${count}`;
    let [tenants, batches] = [1, 0];
    let pauper = await open(opener, nameOf(0), 0);
    return async (step) => {
      if (tenants < TENANTS_MAX && (pauper === undefined || step.action === 'sign up'))
        pauper = (await open(opener, nameOf(tenants++), step.service)) ?? pauper;
      if (pauper === undefined) return;
      const { service, place, records } = step;
      const { client, relay } = pauper;
      const own = records.map((record, at) => ({ id: `crowd-${batches}-${at}`, ...record }));
      batches += 1;
      if (step.action === 'usage') await client.insist(service, (at) => report(client, at, relay, own));
      else if (step.action === 'refused usage') await reportWrong(client, service, relay, own);
      else if (step.action === 'garbage') await sendGarbage(client, service, relay, place);
      else if (step.action === 'reads') await readMuch(client, service);
      else if (step.action === 'admission') await askForAdmission(client, service);
    };
  },
});

async function open(opener: Client, name: string, service: number): Promise<Pauper | undefined> {
  const signedUp = await signUp(opener, name, service);
  if (signedUp === undefined) return undefined;
  const client = new Client(opener.number, signedUp.tenant, opener.shared);
  client.continues(opener);
  return { client, relay: await newRelayKey(client) };
}

/** One record is wrong, so none may be charged. */
async function reportWrong(
  client: Client,
  service: number,
  relay: Secret,
  own: readonly WireRecord[],
): Promise<void> {
  const wrong = { ...own[0]!, id: `${own[0]!.id}-wrong`, seconds: SECONDS_TOO_MANY };
  await client.insist(service, (at) => report(client, at, relay, [...own, wrong]));
}

async function sendGarbage(client: Client, service: number, key: Secret, place: number): Promise<void> {
  const body = BODIES[Math.floor(place * BODIES.length)];
  await client.rest('misuse', { what: 'garbage' }, { method: 'POST', path: '/v1/usage', key, service, body });
}

async function readMuch(client: Client, service: number): Promise<void> {
  const what = 'many reads';
  await Promise.all(
    Array.from({ length: READS }, (_, at) =>
      client.read('misuse', { what }, service, VIEWS[at % VIEWS.length]!, () => ({})),
    ),
  );
  await readBilling(client, service);
}

async function askForAdmission(client: Client, service: number): Promise<void> {
  const room = 'free';
  await client.call('room.create', { room }, RoomService.method.createRoom, { room }, service);
  const asked = { room, username: 'pauper', role: 'host' };
  const { mintClientToken } = TokenService.method;
  await client.call(
    'mint',
    { ...asked, device: DEVICE },
    mintClientToken,
    { ...asked, deviceThumbprint: DEVICE },
    service,
  );
}
