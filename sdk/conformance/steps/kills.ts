/** The service is killed in the middle of every method: nothing happens twice, and nothing is lost unnoticed. */
import type { Client, Watch } from '../client.ts';
import type { Json, Outcome } from '../driver.ts';
import type { TcpProxy } from '../proxy.ts';
import { type At, type House, type Step, waitFor } from '../step.ts';
import type { ChildService } from '../world.ts';
import { thumbprintOf } from './devices.ts';

const lobby = { room: 'lobby' };
const PEOPLE = ['seen', 'kicked', 'muted', 'released', 'revoked', 'restored'] as const;
const tracks = ['audio'] as const;
const RECORD = {
  id: 'r1',
  role: 'host',
  tier: 'hd',
  seconds: 60,
  egress_bytes: 50_000_000,
  ingress_bytes: 0,
};

/** Calls wait for the kill and for the new start, which a busy machine delays. */
const PATIENT = { timeout_ms: 60_000, attempt_timeout_ms: 30_000, retries: 12 };

/** Ids that the calls need. */
interface Prepared {
  readonly house: House;
  readonly relay: Client;
  /** A client without a key. */
  readonly open: Client;
  readonly watchdogs: readonly string[];
  readonly credentials: readonly string[];
  readonly keys: readonly string[];
}

async function prepare(at: At, addresses: { url: string; control_url: string }): Promise<Prepared> {
  const house = await at.house({
    ...addresses,
    ...PATIENT,
    rooms: ['lobby', 'ends', 'closes', 'first', 'second', 'third'],
  });
  const { direct } = house;
  for (const username of PEOPLE) {
    await direct.tokens.mint({ ...lobby, username, deviceThumbprint: thumbprintOf(username) });
  }
  await direct.moderation.ban({ username: 'villain' });
  await direct.moderation.forceMute({ ...lobby, username: 'released', tracks });
  await direct.moderation.revokePublish({ ...lobby, username: 'restored', tracks });
  const watchdogs: string[] = [];
  for (const room of ['first', 'second', 'third']) {
    const { id } = await direct.watchdogs.create({ room, maxDurationSeconds: 3600, action: 'notify' });
    watchdogs.push(id);
  }
  const credentials: string[] = [];
  const keys: string[] = [];
  for (const name of ['one', 'two']) {
    credentials.push((await direct.deviceCredentials.create({ name, publish: [] })).deviceCredential.id);
    keys.push((await direct.keys.create({ name })).key.id);
  }
  const relay = await at.client({ ...addresses, ...PATIENT, api_key: house.relayKey });
  await relay.call('usage.report', { records: [{ ...RECORD, id: 'r0' }] });
  const open = await at.client({ ...addresses, ...PATIENT });
  return { house, relay, open, watchdogs, credentials, keys };
}

/** Calls that change something over the control plane, once each. */
const MUTATIONS: Readonly<Record<string, (ids: Prepared) => object>> = {
  'rooms.create': () => ({ room: 'new' }),
  'rooms.update_policy': () => ({ ...lobby, policy: { max_participants: 9 } }),
  'rooms.end': () => ({ room: 'ends' }),
  'moderation.kick': () => ({ ...lobby, username: 'kicked' }),
  'moderation.ban': () => ({ cidr: '192.0.2.0/24' }),
  'moderation.unban': () => ({ username: 'villain' }),
  'moderation.force_mute': () => ({ ...lobby, username: 'muted', tracks }),
  'moderation.release_mute': () => ({ ...lobby, username: 'released', tracks }),
  'moderation.revoke_publish': () => ({ ...lobby, username: 'revoked', tracks }),
  'moderation.restore_publish': () => ({ ...lobby, username: 'restored', tracks }),
  'moderation.close_room': () => ({ room: 'closes' }),
  'device_credentials.create': () => ({ name: 'new', publish: [] }),
  'device_credentials.rotate': ({ credentials }) => ({ id: credentials[0], overlap: 60 }),
  'device_credentials.revoke': ({ credentials }) => ({ id: credentials[1] }),
  'watchdogs.create': () => ({ ...lobby, max_duration: 3600, action: 'notify' }),
  'watchdogs.update': ({ watchdogs }) => ({ id: watchdogs[0], max_duration: 7200 }),
  'watchdogs.delete': ({ watchdogs }) => ({ id: watchdogs[1] }),
};

/** Calls that may be repeated because they change nothing, or the same again. */
const REPEATABLE: Readonly<Record<string, (ids: Prepared) => object>> = {
  'rooms.get': () => lobby,
  'rooms.list_events': () => ({}),
  'participants.get': () => ({ ...lobby, username: 'seen' }),
  'tokens.mint': () => ({ ...lobby, username: 'newcomer', device_thumbprint: thumbprintOf('newcomer') }),
  'watchdogs.get': ({ watchdogs }) => ({ id: watchdogs[2] }),
  'billing.get': () => ({}),
  'billing.statements': () => ({}),
  'usage.summary': () => ({}),
  'usage.explain': () => ({ id: 'r0' }),
  'rates.simulate': () => ({
    participants: [{ role: 'host', tier: 'hd', count: 1, seconds: 60, egress_bytes: 50_000_000 }],
  }),
  'keys.list': () => ({}),
  'rates.get': () => ({}),
};

/** Calls of REST that change something. All attempts have one idempotency key, so they are repeated. */
const REST_MUTATIONS: Readonly<Record<string, (ids: Prepared) => object>> = {
  'keys.create': () => ({ name: 'new' }),
  'keys.rotate': ({ keys }) => ({ id: keys[0], overlap_seconds: 60 }),
  'keys.revoke': ({ keys }) => ({ id: keys[1] }),
  'billing.checkout': () => ({ amount_cents: 1000 }),
  'billing.set_auto_top_up': () => ({ enabled: false }),
  'participants.erase': () => ({ participant: 'nobody' }),
  'alerts.set': () => ({ thresholds: [{ kind: 'balance', below_micros: 5_000_000 }] }),
  'budgets.set': () => ({ id: 'new', period: 'day', limit_micros: 5, hard: false }),
  'billing.set_time_zone': () => ({ time_zone: 'Europe/Berlin' }),
  'billing.set_details': () => ({ name: 'Ada Video GmbH' }),
  'mail.set': () => ({ addresses: [], alerts: true, receipts: true }),
  'webhooks.create': () => ({ url: 'https://x.example/', types: ['card_expiring'] }),
};

/** A refusal is no effect, and is not kept. */
const REFUSED: Readonly<Record<string, string>> = {
  'billing.portal': 'Invalid invalid request: this tenant has never paid: pay a checkout first',
};

/** The name of the tenant that signs up meanwhile. */
const newName = ({ house }: Prepared) => `Beside ${house.id}`;

const LISTS: Readonly<Record<string, object>> = {
  'rooms.list': {},
  'participants.list': lobby,
  'moderation.list_bans': {},
  'moderation.list_events': {},
  'device_credentials.list': {},
  'watchdogs.list': {},
  'billing.ledger': {},
  'billing.grants': {},
  'billing.payments': {},
  'usage.records': {},
  'usage.sessions': {},
  'usage.conflicts': {},
};

interface Started {
  /** By method, how each ended. */
  readonly ends: Promise<Record<string, string>>;
}

/** Start all calls. Resolves when each over REST is under way, so the ends are wrapped: they come later. */
async function startAll({ ids, rest }: Place): Promise<Started> {
  const before = rest.requests;
  const ends = callAll(ids);
  // Some of these are never repeated: one that arrived after the kill would succeed.
  await waitFor(
    () => rest.requests - before,
    (requests) => requests >= REST_CALLS,
  );
  return { ends };
}

/** Make all calls. By method, how each ended. */
async function callAll(ids: Prepared): Promise<Record<string, string>> {
  const { client } = ids.house;
  const ends: Record<string, Promise<Outcome>> = {
    'usage.report': ids.relay.call('usage.report', { records: [RECORD] }),
    'usage.look_up': ids.relay.call('usage.look_up', { ids: ['r0'] }),
    sign_up: ids.open.call('sign_up', { email: 'ada@example.com', name: newName(ids) }),
  };
  for (const [method, request] of Object.entries({ ...MUTATIONS, ...REST_MUTATIONS, ...REPEATABLE })) {
    ends[method] = client.call(method, request(ids));
  }
  for (const method of Object.keys(REFUSED)) ends[method] = client.call(method);
  for (const [method, request] of Object.entries(LISTS)) ends[method] = client.list(method, request);
  const words = Object.entries(ends).map(async ([method, end]) => [method, describe(await end)]);
  return Object.fromEntries(await Promise.all(words));
}

/** Each SDK has words of its own for an answer that did not come. */
function describe({ error }: Outcome): string {
  if (error === undefined) return 'ok';
  return error.kind === 'Unavailable' ? error.kind : `${error.kind} ${error.message}`;
}

const ENDS: Json = {
  ...Object.fromEntries(
    [MUTATIONS, REST_MUTATIONS, REPEATABLE, LISTS, { 'usage.report': 'ok', 'usage.look_up': 'ok' }]
      .flatMap(Object.keys)
      .map((method) => [method, 'ok']),
  ),
  ...REFUSED,
  sign_up: 'Unavailable',
};

interface Place {
  readonly child: ChildService;
  readonly control: TcpProxy;
  readonly rest: TcpProxy;
  readonly ids: Prepared;
  readonly watch: Watch;
}

/** A service to kill, with connections to it. */
async function takePlace(at: At): Promise<Place> {
  const child = await at.world.startChild();
  at.onEnd(child.kill);
  const [control, rest] = [await at.proxy(child.grpcPort), await at.proxy(child.port)];
  const ids = await prepare(at, { url: rest.url, control_url: control.url });
  await ids.house.client.call('rooms.get', lobby);
  await ids.house.client.call('rates.get');
  const watch = ids.house.client.watch('rooms.watch', {});
  await watch.until(({ type }) => type === 'bookmark');
  return { child, control, rest, ids, watch };
}

/** Kill the service. Another one takes its place. */
async function kill(at: At, { child, control, rest }: Place): Promise<void> {
  control.target = at.world.service.grpcPort;
  rest.target = at.world.service.port;
  await child.kill();
  control.holdsAnswers = false;
  rest.holdsAnswers = false;
  control.cut();
  rest.cut();
}

/** What the calls left: each thing once. */
async function effects(at: At, ids: Prepared): Promise<Json> {
  const { direct, tenant } = ids.house;
  const { recent } = await direct.billing.get();
  return {
    moderation: (await all(direct.moderation.listEvents())).map(({ action }) => action).toSorted(),
    rooms: (await all(direct.rooms.list())).map(({ name, state }) => `${name} ${state}`).toSorted(),
    credentials: (await all(direct.deviceCredentials.list())).map(({ name }) => name).toSorted(),
    watchdogs: (await all(direct.watchdogs.list()))
      .map(({ room, maxDurationSeconds }) => `${room} ${maxDurationSeconds}`)
      .toSorted(),
    keys: (await direct.keys.list()).map(({ name }) => name).toSorted(),
    charges: recent.filter(({ kind }) => kind === 'usage').length,
    webhooks: (await direct.webhooks.list()).length,
    checkouts: await count(at, 'from checkouts where tenant_id = $1', tenant),
    tenants: await count(at, 'from tenants where name = $1', newName(ids)),
  };
}

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const item of items) found.push(item);
  return found;
}

async function count(at: At, from: string, value: unknown): Promise<number> {
  const { rows } = await at.world.db.query<{ count: bigint }>(`select count(*) ${from}`, [value]);
  return Number(rows[0]!.count);
}

/**
 * How often each type of event happened, as a stream has it that was open all the time. The stream has every event
 * that was stored before `last`. The table of events may lack some of them, because they get their numbers later.
 */
async function follow({ ids, watch }: Place): Promise<Json> {
  await ids.house.direct.rooms.create({ room: 'last' });
  const events = await watch.until(({ type, room }) => type === 'room_created' && room.name === 'last');
  await watch.end();
  const news = events.filter(({ type }) => type !== 'bookmark');
  const isWhole = news.every(({ seq }, index) => index === 0 || seq === news[index - 1].seq + 1);
  const counts: Record<string, number> = {};
  for (const { type } of news) counts[type] = (counts[type] ?? 0) + 1;
  return { isWhole, counts };
}

/** Each action of a moderator by the suite, and by the SDK. */
const MODERATION = [
  ...['ban', 'ban', 'close_room', 'force_mute', 'force_mute', 'kick', 'release_mute', 'restore_publish'],
  ...['revoke_publish', 'revoke_publish', 'unban'],
];

/** Changes whose answers are kept with their idempotency keys. */
const KEPT = Object.keys({ ...MUTATIONS, ...REST_MUTATIONS }).length;

/** Calls of `callAll` that go to REST. */
const REST_CALLS = 24;

/** How often the calls that may be repeated make events of each type, killed or not, with `last`. */
const COUNTS = {
  room_created: 2,
  room_updated: 1,
  room_ended: 2,
  moderation: 8,
  participant_entered: 1,
  participant_updated: 4,
  participant_left: 1,
  device_credential_created: 1,
  device_credential_rotated: 1,
  device_credential_revoked: 1,
  key_created: 1,
  key_rotated: 1,
  key_revoked: 1,
};

/** All calls have probably arrived when no request came for so long. */
const QUIET_MS = 300;

/** What the calls leave that may be repeated, killed or not. */
const EFFECTS = {
  moderation: MODERATION,
  rooms: [
    ...['closes ended', 'ends ended', 'first live', 'lobby live', 'new live', 'second live', 'third live'],
  ],
  credentials: ['new', 'one', 'one', 'two'],
  watchdogs: ['first 7200', 'lobby 3600', 'third 3600'],
  keys: ['backend', 'new', 'one', 'one', 'relay', 'two'],
  charges: 2,
  webhooks: 1,
  checkouts: 1,
};

export const KILLS: readonly Step[] = [
  {
    name: 'the service is killed in the middle of every method, before the effect',
    isSlow: true,
    run: async (at) => {
      const place = await takePlace(at);
      place.child.pause();
      const { ends } = await startAll(place);
      // Calls of the control plane share connections. All may be repeated, so one that is late does no harm.
      await waitFor(
        () => place.control.quietMs,
        (ms) => ms >= QUIET_MS,
      );
      await kill(at, place);
      return { ends: await ends, effects: await effects(at, place.ids), events: await follow(place) };
    },
    expect: {
      ends: ENDS,
      effects: { ...EFFECTS, tenants: undefined },
      events: { isWhole: true, counts: COUNTS },
    },
  },
  {
    name: 'the service is killed in the middle of every method, after the effect',
    isSlow: true,
    run: async (at) => {
      const place = await takePlace(at);
      const { ids } = place;
      const changes = () => count(at, 'from idempotency_keys where tenant_id = $1', ids.house.tenant);
      const before = await changes();
      place.control.holdsAnswers = true;
      place.rest.holdsAnswers = true;
      const { ends } = await startAll(place);
      await waitFor(changes, (now) => now === before + KEPT);
      await waitFor(
        () => effects(at, ids),
        ({ keys, charges, checkouts, tenants }) => keys.length + charges + checkouts + tenants === 10,
      );
      await kill(at, place);
      return { ends: await ends, effects: await effects(at, ids), events: await follow(place) };
    },
    expect: {
      ends: ENDS,
      effects: { ...EFFECTS, tenants: 1 },
      events: { isWhole: true, counts: COUNTS },
    },
  },
];
