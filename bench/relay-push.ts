/** How soon relays hear of what was revoked: by a stream, by long polls, and at the least. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import pg from 'pg';
import { newCredential } from '../src/access/devices/device-credential.ts';
import { insertCredential } from '../src/access/devices/device-credentials.sql.ts';
import { inTransaction } from '../src/base/db/transaction.ts';
import { renderTenantId, type TenantId } from '../src/base/tenants/tenant.ts';
import { makeKey } from '../test/support/tenants.ts';
import type { Bench, Benchmark } from './benchmark.ts';
import { CpuMeter } from './cpu-meter.ts';
import { makeBenchTenant, openProcess, openStand, type Stand } from './stand.ts';
import { percentile } from './statistics.ts';

const RELAYS = 1_000;
const WARM_UP = 5;
/** Revocations where each reaches all relays, and where each reaches one. */
const PUSHES_TO_ALL = 40;
const PUSHES_TO_ONE = 300;
const P99_MS_MAX = 100;
/** Without a key, 200 relays may follow from one address. */
const RELAYS_PER_ADDRESS = 100;
/** As long as a snapshot with one revocation. */
const SNAPSHOT_BYTES = 700;

export const relayPush: Benchmark = {
  name: 'relay-push',
  summary: `from the answer to a revocation until ${RELAYS} relays have heard of it`,
  protocol: `${RELAYS} relays, as sockets of this process, follow one process of the service: all of one tenant, or each of a tenant of
    its own; by a stream with a relay key, or by long polls. One after the other, device credentials are revoked by
    DELETE /v1/device-credentials/{id}: ${PUSHES_TO_ALL} times where all relays hear of it, ${PUSHES_TO_ONE} times where one does. The result is the time from
    the answer, which comes after the commit, until the bytes have arrived at each relay; and the CPU time of the service for each
    arrival, the DELETE included. The floor is the least that could tell: NOTIFY, and a bare process that writes what it says to
    streams, of 1 and of ${RELAYS} sockets. There is one round.`,
  async run(bench) {
    const stand = await openStand(bench);
    const bare = await openProcess(bench, stand, './bare-stream.ts');
    const notifier = await bench.use(connectDatabase(stand), (client) => client.end());
    const notify = async () => {
      await notifier.query(`notify bench, '${'x'.repeat(SNAPSHOT_BYTES)}'`);
      return performance.now();
    };
    for (const count of [1, RELAYS]) {
      const relays = await openRelays(bench, bare.url, count, () => ({ kind: 'stream', path: '/' }));
      const pushes = Array.from({ length: PUSHES_TO_ALL }, () => ({ act: notify, relays }));
      await measure(bench, `floor, ${count} sockets`, pushes, bare.pid);
      closeAll(relays);
    }
    const service = await openProcess(bench, stand, './service.ts');
    for (const tenants of [1, RELAYS]) {
      bench.progress(`making ${tenants} tenants`);
      const made = await makeTenants(stand, tenants);
      for (const kind of ['stream', 'polls'] as const) {
        const relays = await openRelays(bench, service.url, RELAYS, (at) => {
          const { tenant, relayKey } = made[at % tenants]!;
          return { kind, path: `/v1/revocations/${renderTenantId(tenant)}`, key: relayKey };
        });
        const pushes = Array.from({ length: tenants === 1 ? PUSHES_TO_ALL : PUSHES_TO_ONE }, (_, at) => {
          const of = made[(at * 7) % tenants]!;
          const reached = tenants === 1 ? relays : [relays[(at * 7) % tenants]!];
          return { act: () => revoke(service.url, of), relays: reached };
        });
        await measure(
          bench,
          `${kind}, ${tenants} ${tenants === 1 ? 'tenant' : 'tenants'}`,
          pushes,
          service.pid,
        );
        closeAll(relays);
      }
    }
  },
};

interface Push {
  /** Resolves to the time of the answer. */
  readonly act: () => Promise<number>;
  /** The relays that it reaches. */
  readonly relays: readonly Relay[];
}

async function measure(bench: Bench, name: string, pushes: readonly Push[], pid: number): Promise<void> {
  bench.progress(name);
  const times: number[] = [];
  const meter = new CpuMeter({ service: pid });
  let arrivals = 0;
  for (const [at, { act, relays }] of [...pushes.slice(0, WARM_UP), ...pushes].entries()) {
    const arriving = relays.map((relay) => relay.next());
    if (at === WARM_UP) meter.start();
    const answered = await act();
    const arrived = await Promise.all(arriving);
    if (at < WARM_UP) continue;
    arrivals += relays.length;
    // It may arrive before the answer has been read.
    times.push(...arrived.map((time) => Math.max(0, time - answered)));
  }
  meter.stop();
  const sorted = Float64Array.from(times).sort();
  bench.note(`${name}, p50`, percentile(sorted, 50), 'ms');
  const goal = name.startsWith('stream') ? { atMost: P99_MS_MAX } : undefined;
  bench.note(`${name}, p99`, percentile(sorted, 99), 'ms', goal);
  bench.note(
    `${name}, CPU for each arrival`,
    (meter.seconds.get('service')! * 1e6) / arrivals,
    'microseconds',
  );
}

interface BenchTenant {
  readonly tenant: TenantId;
  readonly key: string;
  readonly relayKey: string;
  /** Ids of credentials that are not revoked yet. */
  readonly credentials: string[];
}

async function makeTenants(stand: Stand, count: number): Promise<BenchTenant[]> {
  const made: BenchTenant[] = [];
  const credentialsOfEach = count === 1 ? 2 * (PUSHES_TO_ALL + WARM_UP) : 4;
  while (made.length < count) {
    const { tenant, key } = await makeBenchTenant(stand, 'backend');
    const { plaintext: relayKey } = await makeKey(stand.db, tenant, 'relay');
    const credentials: string[] = [];
    const grant = { name: 'a device', publish: [], rooms: null, defaultRoom: null, expiresAt: null };
    while (credentials.length < credentialsOfEach) {
      const fresh = newCredential();
      await inTransaction(stand.db, (tx) => insertCredential(tx, tenant, { ...grant, ...fresh }));
      credentials.push(fresh.id);
    }
    made.push({ tenant, key, relayKey, credentials });
  }
  return made;
}

async function revoke(url: string, { key, credentials }: BenchTenant): Promise<number> {
  const answer = await fetch(`${url}/v1/device-credentials/${credentials.pop()}`, {
    method: 'DELETE',
    headers: { authorization: `Bearer ${key}` },
  });
  const answered = performance.now();
  if (answer.status !== 204) throw new Error(`${answer.status} ${await answer.text()}`);
  return answered;
}

interface Followed {
  readonly kind: 'stream' | 'polls';
  readonly path: string;
  readonly key?: string;
}

interface Relay {
  /** When the next snapshot arrives. */
  next(): Promise<number>;
  readonly socket: Socket;
}

async function openRelays(
  bench: Bench,
  url: string,
  count: number,
  followedBy: (at: number) => Followed,
): Promise<Relay[]> {
  bench.progress(`connecting ${count} relays`);
  const relays: Relay[] = [];
  // Not all at once, so that none waits for its first answer for long.
  while (relays.length < count) {
    const from = relays.length;
    const some = Array.from({ length: Math.min(50, count - from) }, (_, at) =>
      openRelay(url, from + at, followedBy(from + at)),
    );
    relays.push(...(await Promise.all(some)));
  }
  return relays;
}

async function openRelay(url: string, at: number, { kind, path, key }: Followed): Promise<Relay> {
  const { hostname, port } = new URL(url);
  const localAddress = `127.0.1.${1 + Math.floor(at / RELAYS_PER_ADDRESS)}`;
  const socket = connect({ host: hostname, port: Number(port), localAddress, noDelay: true });
  await once(socket, 'connect');
  const ask = (query: string, headers: string) =>
    socket.write(`GET ${path}${query} HTTP/1.1\r\nHost: ${hostname}\r\n${headers}\r\n`);
  let arrived = (_at: number) => {};
  const isStream = kind === 'stream';
  let text = '';
  const begun = Promise.withResolvers<void>();
  let hasBegun = false;
  const take = () => {
    if (!hasBegun) {
      hasBegun = true;
      begun.resolve();
    } else arrived(performance.now());
  };
  socket.on('data', (chunk) => {
    text += chunk.toString('latin1');
    if (isStream) {
      const end = text.lastIndexOf('\n\n');
      if (end < 0) return;
      // The first event of a bare stream is a comment. Whether the tenant is admitted comes with the first snapshot.
      const isNews = !hasBegun || text.includes('event: revocations');
      text = text.slice(end + 2);
      if (isNews) take();
      return;
    }
    const head = text.indexOf('\r\n\r\n');
    const length = Number(/content-length: (\d+)/i.exec(text)?.[1]);
    if (head < 0 || text.length < head + 4 + length) return;
    const seq = seqOf(text.slice(head + 4));
    text = '';
    take();
    ask(`?after=${seq}`, '');
  });
  if (isStream) ask('', `Accept: text/event-stream\r\n${key ? `Authorization: Bearer ${key}\r\n` : ''}`);
  else ask('', '');
  await begun.promise;
  const next = () =>
    new Promise<number>((resolve) => {
      arrived = resolve;
    });
  return { next, socket };
}

/** Parsed once for all relays, so that this process does not hold them up. */
let parsed: { readonly jws: string; readonly seq: number } | undefined;

function seqOf(jws: string): number {
  if (parsed?.jws !== jws) {
    const { seq } = JSON.parse(Buffer.from(jws.split('.')[1]!, 'base64url').toString());
    parsed = { jws, seq };
  }
  return parsed!.seq;
}

function closeAll(relays: readonly Relay[]): void {
  for (const { socket } of relays) socket.destroy();
}

async function connectDatabase(stand: Stand): Promise<pg.Client> {
  const client = new pg.Client(stand.databaseUrl);
  await client.connect();
  return client;
}
