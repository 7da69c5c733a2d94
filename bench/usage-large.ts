/** Charging large batches, compared with the floor. */
import { pipeline } from 'node:stream/promises';
import pg from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import type { Bench, Benchmark, Contestant } from './benchmark.ts';
import { type Measured, measureCpu } from './cpu-meter.ts';
import { runLoad } from './load.ts';
import { findPostmaster, makeBenchTenant, openProcess, openStand, type Stand } from './stand.ts';
import {
  BARE_TABLE,
  copyText,
  makeRows,
  parseCharged,
  type UsageRow,
  usageRequest,
} from './usage-records.ts';

const BATCH = 5_000;
const ONE: Traffic = { clients: 1, batches: 8 };
const BURST: Traffic = { clients: 8, batches: 1 };
const STREAM: Traffic = { clients: 8, batches: 6 };
const FLOOR = 'raw COPY';

export const usageLarge: Benchmark = {
  name: 'usage-large',
  summary: 'charging batches of 5,000 usage records, compared with a raw COPY of the same rows',
  protocol: `Each client sends batches of ${BATCH} new records of a tenant of its own to POST /v1/usage,
    each after the answer to the one before: one client ${ONE.batches} batches a round,
    ${BURST.clients} clients at once one batch each (a burst), and ${STREAM.batches} batches each (a stream). The floor is a raw COPY of the
    same rows, by as many clients at once, into a bare table of the same columns with one unique index
    on (tenant, id), on the same server and committed batch by batch. Then the batches of the one client
    are sent again, each of its records a duplicate. All bytes are made before the clock starts. The
    result is records per second, from the first byte sent to the last answer. A peer has one token for
    all clients. CPU is per batch, medians of the rounds (Linux only).`,
  takesPeers: true,
  rounds: 12,
  async run(bench) {
    const stand = await openStand(bench);
    const { floor, ours, memoryMb } = await openLarge(bench, stand);
    const servers: readonly Server[] = [
      ours,
      ...bench.peers.map(({ name, url, token }) => {
        return { name, role: 'peer' as const, url, tokens: ours.tokens.map(() => token) };
      }),
    ];
    for (const traffic of [ONE, BURST, STREAM]) {
      await bench.compare({
        title: titleOf(traffic),
        unit: 'records/s',
        contestants: [
          copying(floor, traffic),
          ...servers.map((server) => charging(server, traffic, { charged: BATCH })),
        ],
        goals: [{ of: 'boxoffice', to: FLOOR, atLeast: traffic === ONE ? 0.8 : 0.9 }],
      });
    }
    await bench.compare({
      title: 'the batches of one client again',
      unit: 'records/s',
      contestants: servers.map((server) => charging(server, ONE, { charged: 0 })),
    });
    bench.note('resident memory of the service afterwards', await memoryMb(), 'MB');
  },
};

export interface Traffic {
  readonly clients: number;
  /** What each client sends in a round. */
  readonly batches: number;
}

interface Floor extends Measured {
  /** A connection's index is its tenant. */
  readonly connections: readonly pg.Client[];
}

export async function openLarge(bench: Bench, stand: Stand) {
  await stand.db.query(BARE_TABLE);
  const postmaster = await findPostmaster(stand);
  const service = await openProcess(bench, stand, './service.ts');
  const connections = await openConnections(bench, stand);
  const making = connections.map(() => makeBenchTenant(stand, 'relay'));
  const tokens = (await Promise.all(making)).map(({ key }) => key);
  const floor: Floor = { postmaster, connections };
  const measured = { pid: service.pid, postmaster };
  const ours: Server = { name: 'boxoffice', role: 'ours', url: service.url, tokens, measured };
  return { floor, ours, memoryMb: service.memoryMb };
}

function titleOf({ clients, batches }: Traffic): string {
  if (clients === 1) return 'one client';
  return `${clients} clients, each its own tenant, ${batches === 1 ? 'a burst' : 'a stream'}`;
}

/** The batches of one of `clients`. No two kinds of traffic share batches. */
function batchesOf({ clients, batches }: Traffic, client: number, round: number): UsageRow[][] {
  const relay = clients * 100 + batches * 10 + client;
  return Array.from({ length: batches }, (_, index) =>
    makeRows(relay, (round * batches + index) * BATCH, BATCH),
  );
}

function openConnections(bench: Bench, stand: Stand): Promise<pg.Client[]> {
  const opening = Array.from({ length: BURST.clients }, async () => {
    const client = new pg.Client(stand.databaseUrl);
    await bench.use(client.connect(), () => client.end());
    return client;
  });
  return Promise.all(opening);
}

export function copying({ connections, ...measured }: Floor, traffic: Traffic): Contestant {
  return {
    name: FLOOR,
    role: 'floor',
    round: async (round) => {
      const work = connections.slice(0, traffic.clients).map((connection, client) => {
        const batches = batchesOf(traffic, client, round);
        return { connection, texts: batches.map((rows) => copyText(BigInt(client), round, rows)) };
      });
      const { requests, seconds, cpu } = await measureCpu(measured, async () => {
        const start = performance.now();
        await Promise.all(work.map(({ connection, texts }) => copyAll(connection, texts)));
        const seconds = (performance.now() - start) / 1000;
        return { requests: traffic.clients * traffic.batches, seconds };
      });
      return { value: (BATCH * requests) / seconds, cpu };
    },
  };
}

async function copyAll(connection: pg.Client, texts: readonly Buffer[]): Promise<void> {
  for (const text of texts) await pipeline([text], connection.query(copyFrom('copy bare from stdin')));
}

interface Server {
  readonly name: string;
  readonly role: 'ours' | 'peer';
  readonly url: string;
  /** By client. */
  readonly tokens: readonly (string | undefined)[];
  /** Absent: a peer, whose CPU time is unknown. */
  readonly measured?: Measured;
}

/** `charged` is the expected number in each answer. */
export function charging(
  { name, role, url, tokens, measured }: Server,
  traffic: Traffic,
  { charged }: { readonly charged: number },
): Contestant {
  return {
    name,
    role,
    round: async (round) => {
      const requests = tokens.slice(0, traffic.clients).map((token, client) => {
        return batchesOf(traffic, client, round).map((rows) => usageRequest(url, token, rows));
      });
      const sending = () =>
        runLoad({
          urls: [url],
          connections: traffic.clients,
          request: (_, client) => requests[client]!.shift()!,
          until: { requestsEach: traffic.batches },
          statuses: [200],
          isRight: (body) => parseCharged(body).charged === charged,
        });
      const { rate, latencies, cpu } = await measureCpu(measured ?? { postmaster: undefined }, sending);
      return { value: rate * BATCH, latencies, ...(measured && { cpu }) };
    },
  };
}
