/** API keys that are created, rotated and revoked, and used before and afterwards, at both services. */
import { RoomService } from '@boxoffice/contract/room_service';
import { Client, type Shared, TWINS } from './client.ts';
import type { HttpReply } from './http.ts';
import { kind } from './kind.ts';
import type { Secret } from './tenant.ts';

type Kind = 'backend' | 'relay';

interface Held extends Secret {
  readonly kind: Kind;
}

interface Step {
  readonly action: 'create' | 'rotate' | 'revoke' | 'use' | 'list';
  readonly service: number;
  readonly kind: Kind;
  /** Which of the keys, from 0 to 1. */
  readonly place: number;
  readonly overlapSeconds: number;
  /** By the control plane, if it is a backend key. */
  readonly isByGrpc: boolean;
  /** Both services are asked to rotate the same key at once: one of them refuses. */
  readonly isRaced: boolean;
}

/** At most so many keys work at once. */
const HELD_MAX = 8;
/** How many keys that no longer work are still tried. */
const ENDED_MAX = 20;

export const keys = kind<Step>({
  name: 'keys',
  clients: 1,
  pauseSeconds: 0.25,
  draw: (random) => ({
    action: random.weighted({ create: 2, rotate: 1.5, revoke: 1.5, use: 12, list: 0.3 }),
    service: random.integer(0, 1),
    kind: random.pick(['backend', 'relay']),
    place: random.number(),
    overlapSeconds: random.pick([0, 0, 1, 1, 3]),
    isByGrpc: random.chance(0.4),
    isRaced: random.chance(0.5),
  }),
  open: async (client) => {
    const held: Held[] = [];
    const ended: Held[] = [];
    const end = (key: Held) => {
      if (held.includes(key)) held.splice(held.indexOf(key), 1);
      ended.push(key);
      if (ended.length > ENDED_MAX) ended.shift();
    };
    const twin = new Client(client.number + TWINS, client.tenant, client.shared);
    return async ({ action, service, kind, place, overlapSeconds, isByGrpc, isRaced }) => {
      const chosen = held[Math.floor(place * held.length)];
      if (action === 'create' && held.length < HELD_MAX) held.push(...(await create(client, service, kind)));
      else if (action === 'list') await list(client, service);
      else if (action === 'rotate' && chosen) {
        end(chosen);
        const rotated = await Promise.all([
          rotate(client, service, chosen, overlapSeconds),
          ...(isRaced ? [rotate(twin, 1 - service, chosen, overlapSeconds)] : []),
        ]);
        held.push(...rotated.flat());
      } else if (action === 'revoke' && chosen) {
        end(chosen);
        await revoke(client, service, chosen);
        // The other service has to refuse it at once, without a copy from before.
        await use(client, 1 - service, chosen, isByGrpc);
      } else {
        const all = [...held, ...ended];
        const tried = all[Math.floor(place * all.length)];
        if (tried) await use(client, service, tried, isByGrpc);
      }
    };
  },
});

/** The number of the first client that only a control has. */
const RACING = 30_000;

/** Both services are asked at once to replace the same key, one key after another, until both have. Returns how many keys it took. */
export async function raceReplacements(shared: Shared, stopping: AbortSignal): Promise<number> {
  const [one, other] = [0, 1].map((each) => new Client(RACING + each, shared.tenants[0]!, shared));
  for (let keys = 1; ; keys += 1) {
    const [key] = await create(one!, 0, 'relay');
    const replaced = key ? await Promise.all([rotate(one!, 0, key, 0), rotate(other!, 1, key, 0)]) : [];
    if (stopping.aborted || (key && replaced.every(({ length }) => length > 0))) return keys;
  }
}

async function create(client: Client, service: number, kind: Kind): Promise<Held[]> {
  const request = { method: 'POST', path: '/v1/keys', body: { name: 'a key', kind } } as const;
  const reply = await client.change('key.create', { kind }, service, request, ({ key }) => ({ key }));
  return heldOf(reply, kind);
}

async function rotate(client: Client, service: number, old: Held, overlapSeconds: number): Promise<Held[]> {
  const body = { overlap_seconds: overlapSeconds };
  const reply = await client.change(
    'key.rotate',
    { id: old.id, ...body },
    service,
    { method: 'POST', path: `/v1/keys/${old.id}/rotate`, body },
    ({ key, old_key_retires }) => ({ key, old_key_retires }),
  );
  return heldOf(reply, old.kind);
}

function heldOf({ outcome, json }: HttpReply, kind: Kind): Held[] {
  return outcome === 'ok' ? [{ id: json.key.id, plaintext: json.api_key, kind }] : [];
}

async function revoke(client: Client, service: number, { id }: Held): Promise<void> {
  await client.change('key.revoke', { id }, service, { method: 'DELETE', path: `/v1/keys/${id}` });
}

async function use(client: Client, service: number, key: Held, isByGrpc: boolean): Promise<void> {
  if (isByGrpc && key.kind === 'backend') {
    await client.call('key.use', {}, RoomService.method.listRooms, { pageSize: 1 }, service, key);
    return;
  }
  const address = client.newAddress();
  const request =
    key.kind === 'backend'
      ? ({ method: 'GET', path: '/v1/alerts' } as const)
      : ({ method: 'POST', path: '/v1/usage', body: { records: [] } } as const);
  await client.rest('key.use', {}, { ...request, key, service, address });
}

async function list(client: Client, service: number): Promise<void> {
  await client.read('key.list', {}, service, '/v1/keys', ({ keys, next_cursor }) => ({
    keys,
    ...(next_cursor !== undefined && { next_cursor }),
  }));
}
