/** Many relays that report a few records at a time: the gain from charging them together. */
import type { Bench, Benchmark, Contestant, Sample } from './benchmark.ts';
import { type Load, type LoadResult, runLoad } from './load.ts';
import { makeBenchTenant, openProcess, openStand, type Stand } from './stand.ts';
import { percentile } from './statistics.ts';
import { makeRows, parseCharged, usageRequest } from './usage-records.ts';

const RELAYS = 64;
const RECORDS_MAX = 20;
const SEED = 20_261_121;
const SIZES = 1_024;
/** Share of the peer's throughput. */
const PACE = 0.6;

interface Traffic extends Pick<Load, 'connections' | 'until' | 'pace'> {
  readonly recordsMax: number;
}
const FLOOD: Traffic = { connections: RELAYS, recordsMax: RECORDS_MAX, until: { seconds: 1 } };
const PACED: Traffic = { ...FLOOD, until: { seconds: 3 } };
const IDLE: Traffic = { connections: 1, recordsMax: 1, until: { seconds: 0.5 } };

const OURS = 'boxoffice';
const SINGLY = 'one transaction a request';

export const usageSmall: Benchmark = {
  name: 'usage-small',
  summary: `${RELAYS} relays that report 1 to ${RECORDS_MAX} records at a time, compared with one transaction a request`,
  protocol: `${RELAYS} relays, each on a connection of its own, report 1 to ${RECORDS_MAX} new records at a time to POST /v1/usage,
    the sizes by a seeded generator: first each for a tenant of its own, then all for one tenant. The peer
    is the same service in another process, on the same database and with tenants of its own, but each request
    is a transaction by itself, up to 16 of them at a time, those of one tenant in turns. Requests a second
    are counted over 1 s a round, each relay sending as soon as it has its answer. Equal load is ${PACE * 100} % of
    the peer's rate, for both, at even intervals for 3 s a round; latency is measured from the time a
    request was due. Idle is one relay that sends one record at a time for 0.5 s a round. Requests
    are made while sending, as relays do.`,
  async run(bench) {
    const stand = await openStand(bench);
    const services: readonly Service[] = [
      { name: OURS, role: 'ours', url: (await openProcess(bench, stand, './service.ts')).url },
      { name: SINGLY, role: 'peer', url: await openUncoalesced(bench, stand) },
    ];
    await compareRelays(
      bench,
      `${RELAYS} tenants`,
      await Promise.all(services.map(withTenants(stand, RELAYS))),
    );
    const hot = await Promise.all(services.map(withTenants(stand, 1)));
    await compareRelays(bench, 'one tenant', hot);
    await bench.compare({
      title: 'idle: p50 of one relay, one record a request',
      unit: 'ms',
      contestants: hot.map((side) => contestant(side, IDLE, p50)),
      goals: [{ of: OURS, to: SINGLY, atMost: 1.1 }],
    });
  },
};

interface Service {
  readonly name: string;
  readonly role: 'ours' | 'peer';
  readonly url: string;
}

async function openUncoalesced(bench: Bench, stand: Stand): Promise<string> {
  const environment = { BENCH_ONE_TRANSACTION_A_REQUEST: '1' };
  return (await openProcess(bench, stand, './service.ts', environment)).url;
}

/** A service, and the tenants that report to it. */
interface Side extends Service {
  /** API keys of the tenants. Relays use them in turns. */
  readonly tokens: readonly string[];
  /** Number of records that each relay has sent so far. */
  readonly sent: number[];
}

function withTenants(stand: Stand, count: number): (service: Service) => Promise<Side> {
  return async (service) => {
    const tenants = await Promise.all(Array.from({ length: count }, () => makeBenchTenant(stand, 'relay')));
    return { ...service, tokens: tenants.map(({ key }) => key), sent: Array(RELAYS).fill(0) };
  };
}

async function compareRelays(bench: Bench, title: string, sides: readonly Side[]): Promise<void> {
  const flood = await bench.compare({
    title: `${title}, as fast as it goes`,
    unit: 'requests/s',
    contestants: sides.map((side) => contestant(side, FLOOD, requestRate)),
    goals: [{ of: OURS, to: SINGLY, atLeast: 3 }],
  });
  const pace = Math.round(PACE * flood.contestants.find(({ name }) => name === SINGLY)!.median);
  await bench.compare({
    title: `${title}, equal load: p99 at ${pace} requests/s`,
    unit: 'ms',
    contestants: sides.map((side) => contestant(side, { ...PACED, pace }, p99)),
    goals: [{ of: OURS, to: SINGLY, atMost: 1 }],
  });
}

function contestant(
  { name, role, url, tokens, sent }: Side,
  { recordsMax, ...load }: Traffic,
  sample: (result: LoadResult) => Sample,
): Contestant {
  const sizes = makeSizes(recordsMax);
  const request = (index: number, relay: number) => {
    const rows = makeRows(relay, sent[relay]!, sizes[index % SIZES]!);
    sent[relay]! += rows.length;
    return usageRequest(url, tokens[relay % tokens.length], rows);
  };
  return {
    name,
    role,
    round: async () => sample(await runLoad({ ...load, urls: [url], request, statuses: [200], isRight })),
  };
}

/** Every record is new. */
function isRight(body: string): boolean {
  return parseCharged(body).duplicates === 0;
}

function requestRate({ rate, latencies }: LoadResult): Sample {
  return { value: rate, latencies };
}

function p50({ latencies }: LoadResult): Sample {
  return { value: percentile(Float64Array.from(latencies).sort(), 50), latencies };
}

function p99({ latencies }: LoadResult): Sample {
  return { value: percentile(Float64Array.from(latencies).sort(), 99), latencies };
}

/** Pseudo-random, from 1 to `max`, the same in every run. Source: the generator of Numerical Recipes, 7.1. */
function makeSizes(max: number): number[] {
  let state = SEED;
  return Array.from({ length: SIZES }, () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return 1 + Math.floor((state / 2 ** 32) * max);
  });
}
