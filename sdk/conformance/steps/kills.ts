/** The service is killed in the middle of every method: nothing happens twice, and nothing is lost unnoticed. */
import type { Client } from '../client.ts';
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

/** Ids that the calls need. */
interface Prepared {
  readonly house: House;
  readonly relay: Client;
  readonly watchdogs: readonly string[];
  readonly credentials: readonly string[];
  readonly keys: readonly string[];
}

async function prepare(at: At, addresses: { url: string; control_url: string }): Promise<Prepared> {
  const house = await at.house({
    ...addresses,
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
  const relay = await at.client({ ...addresses, api_key: house.relayKey });
  return { house, relay, watchdogs, credentials, keys };
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
  'billing.set_auto_top_up': () => ({ enabled: false }),
  'keys.list': () => ({}),
  'keys.revoke': ({ keys }) => ({ id: keys[1] }),
  'rates.get': () => ({}),
};

/** Calls that are never sent twice. */
const ONCE: Readonly<Record<string, (ids: Prepared) => object>> = {
  'keys.create': () => ({ name: 'new' }),
  'keys.rotate': ({ keys }) => ({ id: keys[0], overlap_seconds: 60 }),
};

const LISTS: Readonly<Record<string, object>> = {
  'rooms.list': {},
  'participants.list': lobby,
  'moderation.list_bans': {},
  'moderation.list_events': {},
  'device_credentials.list': {},
  'watchdogs.list': {},
};

/** Start all of them. By method, the end of each: what kind of error, or that it went well. */
function startAll(ids: Prepared): Promise<Record<string, string>> {
  const { client } = ids.house;
  const calls = { ...MUTATIONS, ...REPEATABLE, ...ONCE };
  const ends: [string, Promise<Outcome>][] = [
    ...Object.entries(calls).map(([method, request]): [string, Promise<Outcome>] => [
      method,
      client.call(method, request(ids)),
    ]),
    ...Object.entries(LISTS).map(([method, request]): [string, Promise<Outcome>] => [
      method,
      client.list(method, request),
    ]),
    ['usage.report', ids.relay.call('usage.report', { records: [RECORD] })],
  ];
  return Promise.all(
    ends.map(async ([method, end]) => {
      const { error } = await end;
      return [method, error === undefined ? 'ok' : `${error.kind} ${error.message}`];
    }),
  ).then(Object.fromEntries);
}

const ENDS: Json = {
  ...Object.fromEntries(
    [...Object.keys(MUTATIONS), ...Object.keys(REPEATABLE), ...Object.keys(LISTS), 'usage.report'].map(
      (method) => [method, 'ok'],
    ),
  ),
  ...Object.fromEntries(Object.keys(ONCE).map((method) => [method, /^Unavailable/])),
};

interface Place {
  readonly child: ChildService;
  readonly control: TcpProxy;
  readonly rest: TcpProxy;
  readonly ids: Prepared;
}

/** A service to kill, with connections to it. */
async function takePlace(at: At): Promise<Place> {
  const child = await at.world.startChild();
  at.onEnd(child.kill);
  const [control, rest] = [await at.proxy(child.grpcPort), await at.proxy(child.port)];
  const ids = await prepare(at, { url: rest.url, control_url: control.url });
  await ids.house.client.call('rooms.get', lobby);
  await ids.house.client.call('rates.get');
  return { child, control, rest, ids };
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
async function effects(at: At, { house: { direct, tenant } }: Prepared): Promise<Json> {
  const counts: Record<string, number> = {};
  const count = (what: string) => {
    counts[what] = (counts[what] ?? 0) + 1;
  };
  const { rows } = await at.world.db.query<{ type: string }>(
    'select type from events where tenant_id = $1 order by seq',
    [tenant],
  );
  for (const { type } of rows) count(type);
  for await (const { action } of direct.moderation.listEvents()) count(action);
  const { recent } = await direct.billing.get();
  const charges = recent.filter(({ kind }) => kind === 'usage').length;
  const keys = (await direct.keys.list()).map(({ name }) => name).toSorted();
  return { counts, charges, keys };
}

/** How many changes of the tenant have been stored with their answers. */
async function countChanges(at: At, { house }: Prepared): Promise<number> {
  const { rows } = await at.world.db.query<{ count: bigint }>(
    'select count(*) from idempotency_keys where tenant_id = $1',
    [house.tenant],
  );
  return Number(rows[0]!.count);
}

/** Each action of a moderator once by the suite, and once by the SDK. */
const COUNTS = {
  kick: 1,
  ban: 2,
  unban: 1,
  force_mute: 2,
  release_mute: 1,
  revoke_publish: 2,
  restore_publish: 1,
};

export const KILLS: readonly Step[] = [
  {
    name: 'the service is killed in the middle of every method, before the effect',
    run: async (at) => {
      const place = await takePlace(at);
      place.child.pause();
      const ends = startAll(place.ids);
      // Until everything has arrived at the process that does not run.
      await new Promise((resolve) => setTimeout(resolve, 300));
      await kill(at, place);
      return { ends: await ends, effects: await effects(at, place.ids) };
    },
    expect: {
      ends: ENDS,
      effects: { counts: { ...COUNTS, close_room: 1 }, charges: 1, keys: ['backend', 'one', 'relay', 'two'] },
    },
  },
  {
    name: 'the service is killed in the middle of every method, after the effect',
    run: async (at) => {
      const place = await takePlace(at);
      const { house } = place.ids;
      const before = await countChanges(at, place.ids);
      place.control.holdsAnswers = true;
      place.rest.holdsAnswers = true;
      const ends = startAll(place.ids);
      await waitFor(
        () => countChanges(at, place.ids),
        (count) => count === before + Object.keys(MUTATIONS).length,
      );
      const isDone = async () => {
        const { recent } = await house.direct.billing.get();
        const keys = await house.direct.keys.list();
        return (
          recent.some(({ kind }) => kind === 'usage') &&
          keys.length === 6 &&
          keys.some(({ revokedAt }) => revokedAt)
        );
      };
      await waitFor(isDone, (done) => done);
      await kill(at, place);
      return { ends: await ends, effects: await effects(at, place.ids) };
    },
    expect: {
      ends: ENDS,
      effects: {
        counts: { ...COUNTS, close_room: 1 },
        charges: 1,
        keys: ['backend', 'new', 'one', 'one', 'relay', 'two'],
      },
    },
  },
];
