/** Joins of many devices. */
import { generateKeyPairSync } from 'node:crypto';
import { newCredential } from '../src/access/devices/device-credential.ts';
import { adjustCredit } from '../src/money/ledger/adjust-credit.ts';
import type { Bench, Benchmark, Contestant, TimedRounds } from './benchmark.ts';
import { type Measured, measureCpu } from './cpu-meter.ts';
import { type Load, requestBytes, runLoad } from './load.ts';
import { findPostmaster, makeBenchTenant, openProcess, openStand, type Stand } from './stand.ts';

const CONNECTIONS = [32, 1];
const ROUNDS: TimedRounds = { warmUp: 3_000, seconds: 2 };
/** Enough that no device comes near its limit of thirty joins a minute. */
const DEVICES = 5_000;
const ROOMS = 100;

export const join: Benchmark = {
  name: 'join',
  summary: 'joins of many devices, compared with a bare Fastify route with one SELECT and one signature',
  protocol: `${DEVICES} devices, each with a credential, a username and a key of its own, join ${ROOMS}
    rooms of one tenant in turns, for ${ROUNDS.seconds} s a round, each connection as soon as it has
    its answer. All have joined once before, so these are renewals. Each side gets ${ROUNDS.warmUp} requests
    first. Ours is POST /join of the whole service in one process. The floor is plain Fastify, in a
    process of its own, with one route that finds the credential by its primary key with one prepared
    SELECT and signs as many bytes as a token of ours has, with the same algorithm and a key in memory.
    It counts nothing, checks nothing and writes nothing. Both have a pool of 20 connections on the same
    PostgreSQL. The result is 200 answers per second. CPU is per join, medians of the rounds (Linux
    only).`,
  async run(bench) {
    const stand = await openStand(bench);
    const { bare, ours, answer, newcomersPerSecond } = await openJoins(bench, stand);
    for (const connections of CONNECTIONS) {
      await bench.compare({
        title: connections === 1 ? '1 connection' : `${connections} connections`,
        unit: 'joins/s',
        contestants: [joining(bare, connections), joining(ours, connections)],
        warmUpRounds: 0,
      });
    }
    bench.note('newcomers', newcomersPerSecond, 'joins/s');
    bench.note('token', tokenOf(answer).length, 'bytes');
    bench.note('answer', answer.length, 'bytes');
  },
};

/** Who answers, and what it is sent in turns. */
interface JoinSide extends Measured {
  readonly name: string;
  readonly role: Contestant['role'];
  readonly url: string;
  readonly requests: readonly Buffer[];
}

export interface Joins {
  readonly ours: JoinSide;
  readonly bare: JoinSide;
  readonly answer: string;
  readonly newcomersPerSecond: number;
}

/** Every device has joined once. */
export async function openJoins(bench: Bench, stand: Stand): Promise<Joins> {
  bench.progress('making devices');
  const devices = await makeDevices(stand);
  const postmaster = await findPostmaster(stand);
  const service = await openProcess(bench, stand, './service.ts');
  const floor = await openProcess(bench, stand, './bare-join.ts');

  const answer = await joinOnce(service.url, devices[0]!);
  const claims = tokenOf(answer).slice(0, tokenOf(answer).lastIndexOf('.'));
  const requests = devices.map((device) => joinBytes(service.url, device));
  const bareRequests = devices.map(({ id }) => {
    return requestBytes('POST', `${floor.url}/join`, { json: JSON.stringify({ credential: id, claims }) });
  });
  const ours: JoinSide = { ...service, name: 'boxoffice', role: 'ours', postmaster, requests };
  const bare: JoinSide = { ...floor, name: 'bare route', role: 'floor', postmaster, requests: bareRequests };
  bench.progress('joining all devices');
  const { rate } = await makeSender(ours, CONNECTIONS[0]!)({ requests: DEVICES });
  return { ours, bare, answer, newcomersPerSecond: rate };
}

function tokenOf(answer: string): string {
  return (JSON.parse(answer) as { token: string }).token;
}

/** A contestant that continues after the last device of its previous round. */
export function joining(
  side: JoinSide,
  connections: number,
  { warmUp, seconds }: TimedRounds = ROUNDS,
): Contestant {
  const send = makeSender(side, connections);
  return {
    name: side.name,
    role: side.role,
    warmUp: () => send({ requests: warmUp }),
    round: async () => {
      const { rate, latencies, cpu } = await measureCpu(side, () => send({ seconds }));
      return { value: rate, latencies, cpu };
    },
  };
}

function makeSender({ url, requests }: JoinSide, connections: number) {
  let sent = 0;
  return (until: Load['until']) =>
    runLoad({
      urls: [url],
      connections,
      request: () => requests[sent++ % requests.length]!,
      until,
      statuses: [200],
    });
}

interface Device {
  readonly id: string;
  readonly credential: string;
  readonly body: string;
}

/** Created directly in the database, for a tenant with credit. */
async function makeDevices(stand: Stand): Promise<Device[]> {
  const { tenant } = await makeBenchTenant(stand, 'backend');
  await adjustCredit(stand.db, { kind: 'operator', id: 'bench' }, tenant, {
    amount: 20_000_000n,
    reason: 'bench',
    id: undefined,
  });
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
