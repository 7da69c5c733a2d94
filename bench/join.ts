/** Joins of many devices. */
import { generateKeyPairSync } from 'node:crypto';
import { newCredential } from '../src/access/devices/device-credential.ts';
import { adjustCredit } from '../src/money/ledger/adjust-credit.ts';
import type { Benchmark, Contestant } from './benchmark.ts';
import { requestBytes, runLoad } from './load.ts';
import { makeBenchTenant, openProcess, openService, openStand, type Stand } from './stand.ts';

const CONNECTIONS = [32, 1];
const SECONDS_PER_ROUND = 2;
/** Enough that no device comes near its limit of thirty joins a minute. */
const DEVICES = 5_000;
const ROOMS = 100;

export const join: Benchmark = {
  name: 'join',
  summary: 'joins of many devices, compared with a bare Fastify route with one SELECT and one signature',
  protocol: `${DEVICES} devices, each with a credential, a username and a key of its own, join ${ROOMS} rooms of one tenant in
    turns, for ${SECONDS_PER_ROUND} s a round, each connection as soon as it has its answer. All have joined once before, so
    these are renewals. Ours is POST /join of the whole
    service in one process. The floor is plain Fastify, in a process of its own, with one route that
    finds the credential by its primary key with one prepared SELECT and signs as many bytes as a token of
    ours has, with the same algorithm and a key in memory. It counts nothing, checks nothing and writes
    nothing. Both have a pool of 20 connections on the same PostgreSQL. The result is 200 answers per second.`,
  async run(bench) {
    const stand = await openStand(bench);
    bench.progress('making devices');
    const devices = await makeDevices(stand);
    const service = await openService(bench, stand);
    const bare = await openProcess(bench, stand, './bare-join.ts');

    const joins = devices.map((device) => joinBytes(service.urls[0]!, device));
    const answer = await joinOnce(service.urls[0]!, devices[0]!);
    const { token } = JSON.parse(answer) as { token: string };
    const claims = token.slice(0, token.lastIndexOf('.'));
    const floor = devices.map(({ id }) => {
      return requestBytes('POST', `${bare.url}/join`, { json: JSON.stringify({ credential: id, claims }) });
    });
    bench.progress('joining all devices');
    let joined = 0;
    const seconds = await secondsOf(() =>
      runLoad({
        urls: service.urls,
        connections: CONNECTIONS[0]!,
        request: () => joins[joined++ % joins.length]!,
        until: { requests: joins.length },
        statuses: [200],
      }),
    );
    for (const connections of CONNECTIONS) {
      await bench.compare({
        title: connections === 1 ? '1 connection' : `${connections} connections`,
        unit: 'joins/s',
        contestants: [
          route('bare route', 'floor', bare.url, floor, connections),
          route('boxoffice', 'ours', service.urls[0]!, joins, connections),
        ],
      });
    }
    bench.note('newcomers', joins.length / seconds, 'joins/s');
    bench.note('token', token.length, 'bytes');
    bench.note('answer', answer.length, 'bytes');
  },
};

async function secondsOf(work: () => Promise<unknown>): Promise<number> {
  const begun = performance.now();
  await work();
  return (performance.now() - begun) / 1000;
}

interface Device {
  readonly id: string;
  readonly credential: string;
  readonly body: string;
}

/** Created directly in the database, for a tenant with credit. */
async function makeDevices(stand: Stand): Promise<Device[]> {
  const { tenant } = await makeBenchTenant(stand, 'backend');
  await adjustCredit(stand.db, tenant, { amount: 20_000_000n, reason: 'bench', id: undefined });
  const credentials = Array.from({ length: DEVICES }, newCredential);
  await stand.db.query(
    `insert into device_credentials (tenant_id, id, name, hash, publish)
     select $1, id, 'bench', hash, '{audio,video}' from unnest($2::text[], $3::bytea[]) as u (id, hash)`,
    [tenant, credentials.map(({ id }) => id), credentials.map(({ hash }) => hash)],
  );
  return credentials.map(({ id, plaintext }, at) => {
    const key = generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey.export({ format: 'jwk' });
    const body = JSON.stringify({ username: `device-${at}`, room: `room-${at % ROOMS}`, key });
    return { id, credential: plaintext, body };
  });
}

function joinBytes(url: string, { credential, body }: Device): Buffer {
  return requestBytes('POST', `${url}/join`, { token: credential, json: body });
}

async function joinOnce(url: string, { credential, body }: Device): Promise<string> {
  const answer = await fetch(`${url}/join`, {
    method: 'POST',
    headers: { authorization: `Bearer ${credential}`, 'content-type': 'application/json' },
    body,
  });
  return answer.text();
}

/** Each contestant continues after the last device of its previous round. */
function route(
  name: string,
  role: Contestant['role'],
  url: string,
  requests: readonly Buffer[],
  connections: number,
): Contestant {
  let sent = 0;
  return {
    name,
    role,
    round: async () => {
      const { rate, latencies } = await runLoad({
        urls: [url],
        connections,
        request: () => requests[sent++ % requests.length]!,
        until: { seconds: SECONDS_PER_ROUND },
        statuses: [200],
      });
      return { value: rate, latencies };
    },
  };
}
