/** What two workers would gain if all relays of a tenant reported to the same one. */
import type { Benchmark, Contestant } from './benchmark.ts';
import { type Measured, measureCpu } from './cpu-meter.ts';
import { runLoad } from './load.ts';
import {
  type BenchProcess,
  findPostmaster,
  makeBenchTenant,
  openProcess,
  openStand,
  type Stand,
} from './stand.ts';
import { makeRows, parseCharged, usageRequest } from './usage-records.ts';

const TENANTS = 8;
const RELAYS_EACH = 8;
const RELAYS = TENANTS * RELAYS_EACH;
const RECORDS = 10;
const SECONDS_PER_ROUND = 1.5;

const IN_TURNS = 'each relay in turn';
const BY_TENANT = 'by tenant';

export const workersRouted: Benchmark = {
  name: 'workers-routed',
  summary: 'two processes that share all tenants, compared with two that have tenants of their own',
  protocol: `Two services on one database, each with one transaction at a time, as workers have. ${RELAYS} relays of ${TENANTS} tenants,
    each on a connection of its own, report ${RECORDS} new records at a time to POST /v1/usage, as soon as they have their
    answer, for ${SECONDS_PER_ROUND} s a round. Relays in turn use one service after the other, so each tenant reports to both, as
    with WORKERS=2. By tenant, all relays of a tenant use the same service. Nothing forwards requests: what a router in
    front would cost is not counted, so the difference is the most that routing could gain. CPU is that of both services
    together and of PostgreSQL, in microseconds a request.`,
  async run(bench) {
    const stand = await openStand(bench);
    const environment = { BENCH_TRANSACTIONS: '1' };
    const services = [
      await openProcess(bench, stand, './service.ts', environment),
      await openProcess(bench, stand, './service.ts', environment),
    ];
    const measured = { pid: services.map(({ pid }) => pid), postmaster: await findPostmaster(stand) };
    const inTurns = await openSide(stand, services, (relay) => relay);
    const byTenant = await openSide(stand, services, tenantOf);
    await bench.compare({
      title: `${RELAYS} relays of ${TENANTS} tenants`,
      unit: 'requests/s',
      contestants: [
        contestant(IN_TURNS, 'floor', inTurns, measured),
        contestant(BY_TENANT, 'ours', byTenant, measured),
      ],
    });
  },
};

interface Side {
  /** The address of the service of each relay. */
  readonly urls: readonly string[];
  /** API keys of the tenants. */
  readonly keys: readonly string[];
  /** Number in the ids of its records. */
  readonly number: number;
  /** Number of records that each relay has sent so far. */
  readonly sent: number[];
}

let sides = 0;

async function openSide(
  stand: Stand,
  services: readonly BenchProcess[],
  placeOf: (relay: number) => number,
): Promise<Side> {
  const tenants = await Promise.all(Array.from({ length: TENANTS }, () => makeBenchTenant(stand, 'relay')));
  return {
    urls: Array.from({ length: RELAYS }, (_, relay) => services[placeOf(relay) % services.length]!.url),
    keys: tenants.map(({ key }) => key),
    number: sides++,
    sent: Array(RELAYS).fill(0),
  };
}

/** Neighbours belong together, so that relays in turn spread each tenant over both services. */
function tenantOf(relay: number): number {
  return Math.floor(relay / RELAYS_EACH);
}

function contestant(
  name: string,
  role: Contestant['role'],
  { urls, keys, number, sent }: Side,
  measured: Measured,
): Contestant {
  const request = (_: number, relay: number) => {
    const rows = makeRows(number * RELAYS + relay, sent[relay]!, RECORDS);
    sent[relay]! += RECORDS;
    return usageRequest(urls[relay]!, keys[tenantOf(relay)], rows);
  };
  return {
    name,
    role,
    round: async () => {
      const sending = () =>
        runLoad({
          urls,
          connections: RELAYS,
          request,
          until: { seconds: SECONDS_PER_ROUND },
          statuses: [200],
          isRight: (body) => parseCharged(body).duplicates === 0,
        });
      const { rate, latencies, cpu } = await measureCpu(measured, sending);
      return { value: rate, latencies, cpu };
    },
  };
}
