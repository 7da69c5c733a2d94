/**
 * Relays that report usage: each repeats a batch until it is acknowledged, sends acknowledged ones again, and reports what other relays of
 * its tenant have reported, as after a failover between relays.
 */
import type { WireRecord } from '../operations.ts';
import type { Random } from '../random.ts';
import { Client, TWINS } from './client.ts';
import { kind } from './kind.ts';
import type { Secret } from './tenant.ts';

/** How many of the newest records of a tenant may be reported again. */
const RECENT = 500;
const ROLES = { host: 2, audience: 5, broadcast_audience: 3 };
const TIERS = { audio: 2, hd: 4, full_hd: 3, '2k': 1, '2k_plus': 1 };
/** Large batches make most of the records, and small ones most of the requests. */
const SIZES = { single: 2, few: 5, many: 4, most: 0.5 };
const SIZE: Readonly<Record<keyof typeof SIZES, readonly [number, number]>> = {
  single: [1, 1],
  few: [2, 30],
  many: [31, 200],
  most: [800, 1_200],
};

interface Step {
  readonly service: number;
  /** Without their ids. */
  readonly records: readonly Omit<WireRecord, 'id'>[];
  /** Places among the recent ones, from 0 to 1, whose records are reported with them. */
  readonly repeated: readonly number[];
  /** Where they stand among the others, from 0 to 1. */
  readonly place: number;
  /** One of its own records comes twice in the batch. */
  readonly isDoubled: boolean;
  /** The same batch goes to both services at once. */
  readonly isTwice: boolean;
}

export const usage = kind<Step>({
  name: 'usage',
  clients: 3,
  pauseSeconds: 0.8,
  draw: (random) => ({
    service: random.integer(0, 1),
    records: Array.from({ length: random.integer(...SIZE[random.weighted(SIZES)]) }, () =>
      drawRecord(random),
    ),
    repeated: Array.from({ length: random.chance(0.3) ? random.integer(1, 20) : 0 }, () => random.number()),
    place: random.number(),
    isDoubled: random.chance(0.1),
    isTwice: random.chance(0.15),
  }),
  open: async (client) => {
    const key = await newRelayKey(client);
    const twin = new Client(client.number + TWINS, client.tenant, client.shared);
    let count = 0;
    return async ({ service, records, repeated, place, isDoubled, isTwice }) => {
      const { recent } = client.tenant;
      const own = records.map((record) => ({ id: `f${client.place}-${count++}`, ...record }));
      const again = repeated.flatMap((each) => recent[Math.floor(each * recent.length)] ?? []);
      const batch = own.toSpliced(
        Math.floor(place * own.length),
        0,
        ...again,
        ...(isDoubled ? own.slice(-1) : []),
      );
      const deliver = (by: Client, first: number) => by.insist(first, (at) => report(by, at, key, batch));
      await Promise.all([deliver(client, service), ...(isTwice ? [deliver(twin, 1 - service)] : [])]);
      recent.push(...own);
      if (recent.length > RECENT) recent.splice(0, recent.length - RECENT);
    };
  },
});

export async function newRelayKey(client: Client): Promise<Secret> {
  const kind = 'relay';
  const request = { method: 'POST', path: '/v1/keys', body: { name: 'relay', kind } } as const;
  const { json } = await client.change('key.create', { kind }, 0, request, ({ key }) => ({ key }));
  return { id: json.key.id, plaintext: json.api_key };
}

export async function report(client: Client, service: number, key: Secret, records: readonly WireRecord[]) {
  const reply = await client.rest(
    'usage.report',
    { records },
    { method: 'POST', path: '/v1/usage', key, body: { records }, service },
    (json) => json,
  );
  if (reply.outcome === 'ok') client.shared.counts.records += reply.json.charged + reply.json.unbilled;
  return reply;
}

export function drawRecord(random: Random): Omit<WireRecord, 'id'> {
  const seconds = random.chance(0.02) ? random.integer(0, 86_400) : random.integer(0, 600);
  return {
    ...(random.chance(0.95) && { room: `r${random.integer(0, 3)}` }),
    ...(random.chance(0.95) && { participant: `u${random.integer(0, 7)}` }),
    role: random.weighted(ROLES),
    tier: random.weighted(TIERS),
    seconds,
    egress_bytes: random.chance(0.05) ? 0 : random.integer(1, 400_000 * (seconds + 1)),
    ingress_bytes: random.integer(0, 10_000_000),
  };
}
