/** The ratios that a change must not make much worse, by CPU time. See `guard-judge.ts`. */
import type { Bench, Benchmark, Contestant } from './benchmark.ts';
import { openFilled } from './filled.ts';
import { named } from './flat-ledger.ts';
import { joining, openJoins } from './join.ts';
import { minting, openMints } from './mint.ts';
import { CREATE_ROOM, GET_ROOM, type Method, openReads, reading } from './reads.ts';
import { openStand, type Stand } from './stand.ts';
import { openSide, openSmallFloor, openSmallService } from './usage-floors.ts';
import { charging, copying, openLarge } from './usage-large.ts';

const TENANTS = 64;
const SMALL = { warmUp: 3_000, requests: 500 };
const LARGE = { clients: 1, batches: 6 };
const TIMED = { warmUp: 6_000, seconds: 0.8 };
const IN_FLIGHT = 32;
/** The middle of the curve. */
const GROWN = 1_000_000;
/** Many short rounds: other load changes less between a round of the floor and the next of ours. */
const ROUNDS = 11;

/** The floor and ours, by CPU time. They warm up by a number of requests. */
export type Pair = readonly [floor: Contestant, ours: Contestant];
type OpenPair = (bench: Bench, stand: Stand) => Promise<Pair>;

/** What the guards measure. */
export const GUARDED_PAIRS = {
  small: byCpuOf(openSmallPair),
  large: byCpuOf(openLargePair),
  join: byCpuOf((...on) => openJoinPair(...on, IN_FLIGHT)),
  alone: byCpuOf((...on) => openJoinPair(...on, 1)),
  mint: byCpuOf((...on) => openMintPair(...on, 'renewals')),
  newcomer: byCpuOf((...on) => openMintPair(...on, 'newcomers')),
  read: byCpuOf((...on) => openCallPair(...on, GET_ROOM)),
  keyed: byCpuOf((...on) => openCallPair(...on, CREATE_ROOM)),
  grown: byCpuOf(openGrownPair),
} as const satisfies Record<string, OpenPair>;

export const guards: readonly Benchmark[] = [
  guard('small', `batches of 10 records by ${TENANTS} tenants, beside a lean service`),
  guard('large', 'batches of 5,000 records, beside a raw COPY'),
  guard('join', 'renewed joins, beside a bare route with one SELECT and one signature'),
  guard('alone', 'renewed joins, one at a time, beside the same route'),
  guard('mint', 'renewed mints, beside bare grpc-js with one SELECT and one signature'),
  guard('newcomer', 'mints for newcomers, beside the same method'),
  guard('read', 'GetRoom, beside bare grpc-js with one SELECT'),
  guard('keyed', 'CreateRoom with an idempotency key, beside bare grpc-js with one INSERT'),
  guard(
    'grown',
    `mints for newcomers with ${named(GROWN)} rows in the tables that grow, beside those with none`,
  ),
];

function guard(of: keyof typeof GUARDED_PAIRS, summary: string): Benchmark {
  return {
    name: `guard-${of}`,
    minutes: 1,
    summary: `CPU time of ${summary}`,
    protocol: `CPU time of ${summary}: microseconds a request of the service and PostgreSQL
      together (Linux only), without the generator. The benchmark of the same work says what is sent. The
      ratio is compared with that of bench/guard.json.`,
    rounds: ROUNDS,
    isGuard: true,
    async run(bench) {
      const [floor, ours] = await GUARDED_PAIRS[of](bench, await openStand(bench));
      await bench.compare({
        title: summary,
        unit: 'us/request',
        contestants: [floor, ours],
        warmUpRounds: floor.warmUp ? 0 : 3,
      });
    },
  };
}

function byCpuOf(open: OpenPair): OpenPair {
  return async (bench, stand) => {
    const [floor, ours] = await open(bench, stand);
    return [byCpu(floor, 'floor'), byCpu(ours, 'ours')];
  };
}

/** The same rounds, of which the result is CPU time. */
export function byCpu(contestant: Contestant, role: Contestant['role']): Contestant {
  return {
    ...contestant,
    role,
    round: async (round) => {
      const { cpu } = await contestant.round(round);
      return { value: cpu!.service + cpu!.postgres, cpu: cpu! };
    },
  };
}

async function openSmallPair(bench: Bench, stand: Stand): Promise<Pair> {
  const floor = await openSide(stand, await openSmallFloor(bench, stand), TENANTS);
  const ours = await openSide(stand, await openSmallService(bench, stand), TENANTS);
  return [floor.contestant(SMALL), ours.contestant(SMALL)];
}

async function openLargePair(bench: Bench, stand: Stand): Promise<Pair> {
  const { floor, ours } = await openLarge(bench, stand);
  return [copying(floor, LARGE), charging(ours, LARGE, { charged: 5_000 })];
}

async function openJoinPair(bench: Bench, stand: Stand, connections: number): Promise<Pair> {
  const { bare, ours } = await openJoins(bench, stand);
  return [joining(bare, connections, TIMED), joining(ours, connections, TIMED)];
}

async function openMintPair(bench: Bench, stand: Stand, whose: 'renewals' | 'newcomers'): Promise<Pair> {
  const { bare, [whose]: ours } = await openMints(bench, stand);
  return [await minting(bench, bare, IN_FLIGHT, TIMED), await minting(bench, ours, IN_FLIGHT, TIMED)];
}

async function openCallPair(bench: Bench, stand: Stand, method: Method): Promise<Pair> {
  const { bare, ours } = await openReads(bench, stand);
  const load = { method, inFlight: IN_FLIGHT };
  return [await reading(bench, bare, load, TIMED), await reading(bench, ours, load, TIMED)];
}

async function openGrownPair(bench: Bench, stand: Stand): Promise<Pair> {
  const [, empty] = await openMintPair(bench, stand, 'newcomers');
  const [, grown] = await openMintPair(bench, await openFilled(bench, stand, GROWN), 'newcomers');
  return [{ ...empty, name: 'empty tables' }, grown];
}
