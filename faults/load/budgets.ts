/**
 * A back end that admits users to rooms with hard budgets of which nothing is spent, because no relay reports usage of them. So tokens
 * hold what they may cost at most, each of them as much, and nothing but that moves what is free.
 */
import { RoomService } from '@boxoffice/contract/room_service';
import { TokenService } from '@boxoffice/contract/token_service';
import type { Outcome } from '../journal.ts';
import { Client, TWINS } from './client.ts';
import { kind } from './kind.ts';

/** The check knows budgets without usage by this beginning. */
const STILL = 'still-';
/** Micros: ten minutes of a host at 2k_plus, at $12 for 1,000 minutes. */
const HOLD = 120_000;
/** Another budget and room take over before the first token ends, which gives back what it held. */
const LASTS_MS = 240_000;
const ROLE = 'host';
const DEVICE = 'NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs';

interface Step {
  readonly action: 'admit' | 'read' | 'set';
  readonly service: number;
  readonly micros: number;
  /** Two users are admitted at once, each by another service. */
  readonly isRaced: boolean;
}

interface Still {
  /** The budget and its room have the same one. */
  readonly name: string;
  readonly endsAt: number;
}

export const budgets = kind<Step>({
  name: 'budgets',
  clients: 1,
  pauseSeconds: 1.5,
  draw: (random) => ({
    action: random.weighted({ admit: 5, read: 2, set: 0.7 }),
    service: random.integer(0, 1),
    micros: random.integer(HOLD, 40 * HOLD),
    isRaced: random.chance(0.6),
  }),
  open: async (client) => {
    const twin = new Client(client.number + TWINS, client.tenant, client.shared);
    let made = 0;
    let admitted = 0;
    let still: Still | undefined;
    // Never the same user: that would extend what the first token holds.
    const admitNext = (by: Client, service: number, { name }: Still) =>
      admit(by, service, name, `u${client.number}-${admitted++}`);
    return async ({ action, service, micros, isRaced }) => {
      if (still === undefined || performance.now() > still.endsAt)
        still = await begin(client, service, `${STILL}${client.number}-${made++}`, micros);
      if (still === undefined) return;
      if (action === 'set') await set(client, service, still.name, micros);
      else if (action === 'read') await read(client, service, still.name);
      else {
        const outcomes = await Promise.all([
          admitNext(client, service, still),
          ...(isRaced ? [admitNext(twin, 1 - service, still)] : []),
        ]);
        // A token without an answer may hold something or not. There are few of them, because services have to answer before the next one.
        if (outcomes.includes('unknown')) await read(client, service, still.name);
      }
    };
  },
});

/** `undefined`: it is not known to be there. Its room follows it, because it would take later what a token of before holds. */
async function begin(
  client: Client,
  service: number,
  name: string,
  micros: number,
): Promise<Still | undefined> {
  const endsAt = performance.now() + LASTS_MS;
  if ((await set(client, service, name, micros)) !== 'ok') return undefined;
  await makeRoom(client, service, name);
  return { name, endsAt };
}

async function set(client: Client, service: number, id: string, micros: number): Promise<Outcome> {
  const settings = { room: id, limit_micros: micros, hard: true };
  const body = { ...settings, period: 'total' };
  const request = { method: 'PUT', path: `/v1/budgets/${id}`, body } as const;
  const args = { id, ...settings };
  const { outcome } = await client.change('budget.set', args, service, request, (json) => json);
  return outcome;
}

async function read(client: Client, service: number, id: string): Promise<void> {
  await client.insist(service, (at) => client.read('budget.read', { id }, at, `/v1/budgets/${id}`));
}

async function makeRoom(client: Client, service: number, room: string): Promise<void> {
  const idempotencyKey = client.newIdempotencyKey();
  await client.insist(service, (at) =>
    client.call('room.create', { room }, RoomService.method.createRoom, { room, idempotencyKey }, at),
  );
}

/** Once: another try for the same user would take nothing more, whatever became of the first one. */
async function admit(client: Client, service: number, room: string, username: string): Promise<Outcome> {
  const { outcome } = await client.call(
    'mint',
    { room, username, device: DEVICE, role: ROLE, budget: room, hold: HOLD },
    TokenService.method.mintClientToken,
    { room, username, deviceThumbprint: DEVICE, role: ROLE },
    service,
  );
  return outcome;
}
