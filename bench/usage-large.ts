/** Charging large batches, compared with the floor. */
import { pipeline } from 'node:stream/promises';
import pg from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import type { Bench, Benchmark, Contestant, Sample } from './benchmark.ts';
import { runLoad } from './load.ts';
import { makeBenchTenant, openService, openStand, type Stand } from './stand.ts';
import {
  BARE_TABLE,
  copyText,
  makeRows,
  parseCharged,
  type UsageRow,
  usageRequest,
} from './usage-records.ts';

const BATCH = 5_000;
const CLIENTS = 8;
/** Batches of each client per round. */
const BATCHES = { one: 8, several: 2 };
const FLOOR = 'raw COPY';

export const usageLarge: Benchmark = {
  name: 'usage-large',
  summary: 'charging batches of 5,000 usage records, compared with a raw COPY of the same rows',
  protocol: `Each client sends batches of ${BATCH} new records of a tenant of its own to POST /v1/usage, each after
    the answer to the one before: one client ${BATCHES.one} batches a round, ${CLIENTS} clients at once ${BATCHES.several} batches each. The floor is
    a raw COPY of the same rows, by as many clients at once, into a bare table of the same columns with one
    unique index on (tenant, id), on the same server and committed batch by batch. Then the batches of the one
    client are sent again, each of its records a duplicate. All bytes are made before the clock starts.
    The result is records per second, from the first byte sent to the last answer. A peer has one token for all
    clients.`,
  takesPeers: true,
  rounds: 12,
  async run(bench) {
    const stand = await openStand(bench);
    await stand.db.query(BARE_TABLE);
    const service = await openService(bench, stand);
    const floor = await openFloor(bench, stand);
    const tokens = await Promise.all(floor.map(async () => (await makeBenchTenant(stand, 'relay')).key));
    const servers: readonly Server[] = [
      { name: 'boxoffice', role: 'ours', url: service.urls[0]!, tokens },
      ...bench.peers.map(({ name, url, token }) => {
        return { name, role: 'peer' as const, url, tokens: tokens.map(() => token) };
      }),
    ];
    for (const clients of [1, CLIENTS]) {
      await bench.compare({
        title: clients === 1 ? 'one client' : `${clients} clients, each its own tenant`,
        unit: 'records/s',
        contestants: [
          copying(floor.slice(0, clients)),
          ...servers.map((server) => charging(server, clients, { charged: BATCH })),
        ],
        goals: [{ of: 'boxoffice', to: FLOOR, atLeast: 0.8 }],
      });
    }
    await bench.compare({
      title: 'the batches of one client again',
      unit: 'records/s',
      contestants: servers.map((server) => charging(server, 1, { charged: 0 })),
    });
    const [memoryMb] = await service.memoryMb();
    bench.note('resident memory of the service afterwards', memoryMb!, 'MB');
  },
};

/** The batches of each of `clients` in a round. One client does not share batches with several. */
function batchesOf(clients: number, client: number, round: number): UsageRow[][] {
  const count = clients === 1 ? BATCHES.one : BATCHES.several;
  const relay = clients * 10 + client;
  return Array.from({ length: count }, (_, index) => makeRows(relay, (round * count + index) * BATCH, BATCH));
}

/** Connections of the floor. A connection's index is its tenant. */
function openFloor(bench: Bench, stand: Stand): Promise<pg.Client[]> {
  const opening = Array.from({ length: CLIENTS }, async () => {
    const client = new pg.Client(stand.databaseUrl);
    await bench.use(client.connect(), () => client.end());
    return client;
  });
  return Promise.all(opening);
}

function copying(connections: readonly pg.Client[]): Contestant {
  return {
    name: FLOOR,
    role: 'floor',
    round: async (round) => {
      const work = connections.map((connection, client) => {
        const batches = batchesOf(connections.length, client, round);
        return { connection, texts: batches.map((rows) => copyText(BigInt(client), round, rows)) };
      });
      const start = performance.now();
      await Promise.all(work.map(({ connection, texts }) => copyAll(connection, texts)));
      return rateOf(work.flatMap(({ texts }) => texts).length, performance.now() - start);
    },
  };
}

async function copyAll(connection: pg.Client, texts: readonly Buffer[]): Promise<void> {
  for (const text of texts) await pipeline([text], connection.query(copyFrom('copy bare from stdin')));
}

function rateOf(batches: number, ms: number): Sample {
  return { value: (BATCH * batches) / (ms / 1000) };
}

interface Server {
  readonly name: string;
  readonly role: 'ours' | 'peer';
  readonly url: string;
  /** By client. */
  readonly tokens: readonly (string | undefined)[];
}

/** `charged` is the expected number in each answer. */
function charging(
  { name, role, url, tokens }: Server,
  clients: number,
  { charged }: { readonly charged: number },
): Contestant {
  return {
    name,
    role,
    round: async (round) => {
      const requests = tokens.slice(0, clients).map((token, client) => {
        return batchesOf(clients, client, round).map((rows) => usageRequest(url, token, rows));
      });
      const { rate, latencies } = await runLoad({
        urls: [url],
        connections: clients,
        request: (_, client) => requests[client]!.shift()!,
        until: { requestsEach: requests[0]!.length },
        statuses: [200],
        isRight: (body) => parseCharged(body).charged === charged,
      });
      return { value: rate * BATCH, latencies };
    },
  };
}
