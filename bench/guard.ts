/** The ratios that a change must not make much worse, by CPU time. See `guard-judge.ts`. */
import type { Bench, Benchmark, Contestant } from './benchmark.ts';
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
/** Many short rounds: other load changes less between a round of the floor and the next of ours. */
const ROUNDS = 11;

/** The floor and ours. They warm up by a number of requests. */
type Pair = readonly [floor: Contestant, ours: Contestant];

export const guards: readonly Benchmark[] = [
  guard('guard-small', `batches of 10 records by ${TENANTS} tenants, beside a lean service`, openSmallPair),
  guard('guard-large', 'batches of 5,000 records, beside a raw COPY', openLargePair),
  guard('guard-join', 'renewed joins, beside a bare route with one SELECT and one signature', (...on) =>
    openJoinPair(...on, IN_FLIGHT),
  ),
  guard('guard-alone', 'renewed joins, one at a time, beside the same route', (...on) =>
    openJoinPair(...on, 1),
  ),
  guard('guard-mint', 'renewed mints, beside bare grpc-js with one SELECT and one signature', (...on) =>
    openMintPair(...on, 'renewals'),
  ),
  guard('guard-newcomer', 'mints for newcomers, beside the same method', (...on) =>
    openMintPair(...on, 'newcomers'),
  ),
  guard('guard-read', 'GetRoom, beside bare grpc-js with one SELECT', (...on) =>
    openCallPair(...on, GET_ROOM),
  ),
  guard('guard-keyed', 'CreateRoom with an idempotency key, beside bare grpc-js with one INSERT', (...on) =>
    openCallPair(...on, CREATE_ROOM),
  ),
];

function guard(
  name: string,
  summary: string,
  openPair: (bench: Bench, stand: Stand) => Promise<Pair>,
): Benchmark {
  return {
    name,
    summary: `CPU time of ${summary}`,
    protocol: `CPU time of ${summary}: microseconds a request of the service and PostgreSQL
      together (Linux only), without the generator. The benchmark of the same work says what is sent. The
      ratio is compared with that of bench/guard.json.`,
    rounds: ROUNDS,
    isGuard: true,
    async run(bench) {
      const [floor, ours] = await openPair(bench, await openStand(bench));
      await bench.compare({
        title: summary,
        unit: 'us/request',
        contestants: [byCpu(floor, 'floor'), byCpu(ours, 'ours')],
        warmUpRounds: floor.warmUp ? 0 : 3,
      });
    },
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
