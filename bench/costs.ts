/** What each path costs: CPU time of the service and of PostgreSQL, and WAL. For planning, so without floors. */
import type { Bench, Benchmark, Contestant, Sample } from './benchmark.ts';
import { joining, openJoins } from './join.ts';
import { minting, openMints } from './mint.ts';
import { CREATE_ROOM, GET_ROOM, openReads, reading } from './reads.ts';
import { openStand, type Stand } from './stand.ts';
import { median } from './statistics.ts';
import { openSide, openSmallService } from './usage-floors.ts';
import { charging, openLarge } from './usage-large.ts';

const TENANTS = 64;
const SMALL = { warmUp: 3_000, requests: 1_500 };
const LARGE = { clients: 8, batches: 2 };
const TIMED = { warmUp: 3_000, seconds: 1 };
const IN_FLIGHT = 32;

export const costs: Benchmark = {
  name: 'costs',
  summary: 'CPU time and WAL of each path, a request: the figures for planning machines',
  protocol: `Each path by itself, on one database, with ${IN_FLIGHT} requests in flight, usage by ${TENANTS} relays of as many
    tenants, or ${LARGE.clients} for large batches. The requests are those of the benchmarks that compare the same paths: usage-floors,
    usage-large, join, mint and reads. CPU is that of all threads and processes, in microseconds a request (Linux
    only). WAL is what PostgreSQL's log grew by, full pages after checkpoints included. All are medians of the rounds.`,
  run: async (bench) => measureCosts(bench, await openStand(bench)),
};

/** The costs of each path, on this database. */
export async function measureCosts(bench: Bench, stand: Stand): Promise<void> {
  for (const open of PATHS) {
    for (const [name, contestant] of Object.entries(await open(bench, stand))) {
      await measure(bench, stand, name, contestant);
    }
  }
}

/** By what a request is called. */
type Paths = Readonly<Record<string, Contestant>>;

const PATHS: readonly ((bench: Bench, stand: Stand) => Promise<Paths>)[] = [
  async (bench, stand) => {
    const side = await openSide(stand, await openSmallService(bench, stand), TENANTS);
    return { 'a batch of 10 records': side.contestant(SMALL) };
  },
  async (bench, stand) => {
    const { ours } = await openLarge(bench, stand);
    return { 'a batch of 5,000 records': charging(ours, LARGE, { charged: 5_000 }) };
  },
  async (bench, stand) => {
    const { ours } = await openJoins(bench, stand);
    return { 'a join that renews': joining(ours, IN_FLIGHT, TIMED) };
  },
  async (bench, stand) => {
    const { renewals, newcomers } = await openMints(bench, stand);
    return {
      'a mint that renews': await minting(bench, renewals, IN_FLIGHT, TIMED),
      'a mint for a newcomer': await minting(bench, newcomers, IN_FLIGHT, TIMED),
    };
  },
  async (bench, stand) => {
    const { ours } = await openReads(bench, stand);
    const calls = (method: typeof GET_ROOM) => reading(bench, ours, { method, inFlight: IN_FLIGHT }, TIMED);
    return { GetRoom: await calls(GET_ROOM), CreateRoom: await calls(CREATE_ROOM) };
  },
];

async function measure(bench: Bench, stand: Stand, name: string, contestant: Contestant): Promise<void> {
  bench.progress(name);
  await contestant.warmUp?.();
  const samples: (Sample & { readonly walBytes: number })[] = [];
  for (let round = 0; round < bench.rounds; round += 1) {
    const before = await readWalBytes(stand);
    const sample = await contestant.round(round);
    const walBytes = ((await readWalBytes(stand)) - before) / sample.latencies!.length;
    samples.push({ ...sample, walBytes });
  }
  bench.note(`${name}: service`, median(samples.map(({ cpu }) => cpu!.service)), 'us');
  bench.note(`${name}: PostgreSQL`, median(samples.map(({ cpu }) => cpu!.postgres)), 'us');
  bench.note(`${name}: WAL`, median(samples.map(({ walBytes }) => walBytes)), 'bytes');
}

/** The length of everything that the logs of all servers ever held. */
export async function readWalBytes({ db, servers }: Stand): Promise<number> {
  const statement = `select pg_current_wal_insert_lsn() - '0/0'::pg_lsn as bytes`;
  const rows = servers
    ? (await Promise.all(servers.map((server) => server.query<{ bytes: string }>(statement)))).flat()
    : (await db.query<{ bytes: string }>(statement)).rows;
  return rows.reduce((sum, { bytes }) => sum + Number(bytes), 0);
}
