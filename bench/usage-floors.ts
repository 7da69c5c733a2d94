/** Small batches beside two lean services without a ledger: throughput, latency and CPU time a request. */
import type { Bench, Benchmark, Contestant, CpuUse, Sample } from './benchmark.ts';
import { type Measured, measureCpu } from './cpu-meter.ts';
import { runLoad } from './load.ts';
import { makeNaiveTenant } from './naive-tenant.ts';
import { findPostmaster, makeBenchTenant, openProcess, openStand, type Stand } from './stand.ts';
import { percentile } from './statistics.ts';
import { makeRows, parseCharged, usageRequest } from './usage-records.ts';

const RELAYS = 64;
const RECORDS = 10;
const ROUNDS: SmallRounds = { warmUp: 6_000, requests: 3_000 };

const OURS = 'boxoffice';
const TRANSACTION = 'one transaction a request';
const STATEMENT = 'one statement a request';

export const usageFloors: Benchmark = {
  name: 'usage-floors',
  summary: `${RELAYS} relays that report ${RECORDS} records at a time, compared with two lean services: throughput and CPU time`,
  protocol: `${RELAYS} relays, each on a connection of its own, report ${RECORDS} new records at a time
    to POST /v1/usage, each as soon as it has its answer: first each for a tenant of its own, then all
    for one tenant. The floors are a service of node:http and pg that keeps ids and balances but no
    ledger (bench/naive.ts), with one transaction a request, and with one statement a request. Each side
    gets ${ROUNDS.warmUp} requests first, then ${ROUNDS.requests} a round. Every side opens PostgreSQL
    by the same address. CPU is the time of all threads and processes a request (Linux only), and is
    compared without that of the client.`,
  async run(bench) {
    const stand = await openStand(bench);
    const services = [
      await openSmallService(bench, stand),
      await openSmallFloor(bench, stand),
      await openSmallFloor(bench, stand, { isOneStatement: true }),
    ];
    for (const tenants of [RELAYS, 1]) {
      const sides = await Promise.all(services.map((service) => openSide(stand, service, tenants)));
      await compareSides(bench, tenants === 1 ? 'one tenant' : `${tenants} tenants`, sides);
    }
  },
};

/** The service that is compared in `usage-floors`, without tenants. */
interface SmallService extends Measured {
  readonly name: string;
  readonly url: string;
  readonly makeTenant: (stand: Stand) => Promise<{ readonly key: string }>;
}

export async function openSmallService(bench: Bench, stand: Stand): Promise<SmallService> {
  const postmaster = await findPostmaster(stand);
  const service = await openProcess(bench, stand, './service.ts');
  return { ...service, name: OURS, postmaster, makeTenant: () => makeBenchTenant(stand, 'relay') };
}

/** The lean service, with one transaction a request or one statement. */
export async function openSmallFloor(
  bench: Bench,
  stand: Stand,
  { isOneStatement = false }: { readonly isOneStatement?: boolean } = {},
): Promise<SmallService> {
  const postmaster = await findPostmaster(stand);
  const environment = isOneStatement ? { BENCH_ONE_STATEMENT: '1' } : {};
  const service = await openProcess(bench, stand, './naive.ts', environment);
  const name = isOneStatement ? STATEMENT : TRANSACTION;
  return { ...service, name, postmaster, makeTenant: makeNaiveTenant };
}

export async function openSide(stand: Stand, service: SmallService, tenants: number): Promise<Side> {
  const made = await Promise.all(Array.from({ length: tenants }, () => service.makeTenant(stand)));
  return new Side(
    service,
    made.map(({ key }) => key),
  );
}

async function compareSides(bench: Bench, title: string, sides: readonly Side[]): Promise<void> {
  await bench.compare({
    title: `${title}, as fast as it goes`,
    unit: 'requests/s',
    contestants: sides.map((side) => side.contestant(ROUNDS)),
    warmUpRounds: 0,
    goals: [{ of: OURS, to: TRANSACTION, atLeast: title === 'one tenant' ? 3 : 1.5 }],
  });
  // The same rounds, seen in other ways.
  await bench.compare({
    title: `${title}, p99 of these rounds`,
    unit: 'ms',
    contestants: sides.map((side) => again(side, ({ p99 }) => ({ value: p99 }))),
    warmUpRounds: 0,
    goals: [{ of: OURS, to: TRANSACTION, atMost: 1 }],
  });
  await bench.compare({
    title: `${title}, CPU of these rounds`,
    unit: 'us/request',
    contestants: sides.map((side) => again(side, ({ cpu }) => ({ value: cpu.service + cpu.postgres }))),
    warmUpRounds: 0,
    goals: [{ of: OURS, to: TRANSACTION, atMost: 1 }],
  });
}

function again({ name, role, rounds }: Side, sample: (round: Round) => Sample): Contestant {
  return { name, role, round: async (round) => sample(rounds[round]!) };
}

/** Numbers of requests. */
interface SmallRounds {
  readonly warmUp: number;
  /** The length of each round. */
  readonly requests: number;
}

interface Round {
  readonly p99: number;
  readonly cpu: CpuUse;
}

/** A service, and the tenants that report to it. */
class Side {
  readonly name: string;
  readonly role: Contestant['role'];
  readonly rounds: Round[] = [];
  readonly #service: SmallService;
  /** API keys of the tenants. Relays use them in turns. */
  readonly #keys: readonly string[];
  readonly #sent: number[] = Array(RELAYS).fill(0);

  constructor(service: SmallService, keys: readonly string[]) {
    this.name = service.name;
    this.role = service.name === OURS ? 'ours' : 'peer';
    this.#service = service;
    this.#keys = keys;
  }

  contestant({ warmUp, requests }: SmallRounds): Contestant {
    const { name, role } = this;
    return { name, role, warmUp: () => this.#send(warmUp), round: () => this.#measure(requests) };
  }

  #send(requests: number) {
    const { url } = this.#service;
    return runLoad({
      urls: [url],
      connections: RELAYS,
      request: (_, relay) => {
        const rows = makeRows(relay, this.#sent[relay]!, RECORDS);
        this.#sent[relay]! += RECORDS;
        return usageRequest(url, this.#keys[relay % this.#keys.length]!, rows);
      },
      until: { requests },
      statuses: [200],
      isRight: (body) => parseCharged(body).charged === RECORDS,
    });
  }

  async #measure(requests: number): Promise<Sample> {
    const { rate, latencies, cpu } = await measureCpu(this.#service, () => this.#send(requests));
    this.rounds.push({ p99: percentile(Float64Array.from(latencies).sort(), 99), cpu });
    return { value: rate, latencies, cpu };
  }
}
