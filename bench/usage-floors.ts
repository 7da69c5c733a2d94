/** Small batches beside two lean services without a ledger: throughput, latency and CPU time a request. */
import type { Bench, Benchmark, Contestant, Sample } from './benchmark.ts';
import { CpuMeter } from './cpu-meter.ts';
import { runLoad } from './load.ts';
import { makeNaiveTenant } from './naive-tenant.ts';
import { type BenchProcess, findPostmaster, makeBenchTenant, openProcess, openStand } from './stand.ts';
import { median, percentile } from './statistics.ts';
import { makeRows, parseCharged, usageRequest } from './usage-records.ts';

const RELAYS = 64;
const RECORDS = 10;
const WARM_UP = 6_000;
const REQUESTS = 3_000;

const OURS = 'boxoffice';
const TRANSACTION = 'one transaction a request';
const STATEMENT = 'one statement a request';
const SERVICE = 'the service';
const POSTGRES = 'PostgreSQL';
const CLIENT = 'the client';

export const usageFloors: Benchmark = {
  name: 'usage-floors',
  summary: `${RELAYS} relays that report ${RECORDS} records at a time, compared with two lean services: throughput and CPU time`,
  protocol: `${RELAYS} relays, each on a connection of its own, report ${RECORDS} new records at a time to POST /v1/usage, each as soon
    as it has its answer: first each for a tenant of its own, then all for one tenant. The floors are a service of
    node:http and pg that keeps ids and balances but no ledger (bench/naive.ts), with one transaction a request, and with
    one statement a request. Each side gets ${WARM_UP} requests first, then ${REQUESTS} a round. Every side opens PostgreSQL by the same
    address. CPU is the time of all threads and processes a request (Linux only), and is compared without that of the
    client.`,
  async run(bench) {
    const stand = await openStand(bench);
    const postmaster = await findPostmaster(stand);
    const services = [
      { name: OURS, process: await openProcess(bench, stand, './service.ts') },
      { name: TRANSACTION, process: await openProcess(bench, stand, './naive.ts') },
      {
        name: STATEMENT,
        process: await openProcess(bench, stand, './naive.ts', { BENCH_ONE_STATEMENT: '1' }),
      },
    ];
    for (const tenants of [RELAYS, 1]) {
      const makeKey = (name: string) =>
        name === OURS ? makeBenchTenant(stand, 'relay') : makeNaiveTenant(stand);
      const opening = services.map(async (service) => {
        const made = await Promise.all(Array.from({ length: tenants }, () => makeKey(service.name)));
        return new Side(service.name, service.process, postmaster, made);
      });
      await compareSides(
        bench,
        tenants === 1 ? 'one tenant' : `${tenants} tenants`,
        await Promise.all(opening),
      );
    }
  },
};

async function compareSides(bench: Bench, title: string, sides: readonly Side[]): Promise<void> {
  for (const side of sides) {
    bench.progress(`${title}: warming up ${side.name}`);
    await side.send(WARM_UP);
  }
  await bench.compare({
    title: `${title}, as fast as it goes`,
    unit: 'requests/s',
    contestants: sides.map((side) => contestant(side, () => side.measure(REQUESTS))),
    warmUpRounds: 0,
    goals: [{ of: OURS, to: TRANSACTION, atLeast: title === 'one tenant' ? 3 : 1.5 }],
  });
  // The same rounds, seen in other ways.
  await bench.compare({
    title: `${title}, p99 of these rounds`,
    unit: 'ms',
    contestants: sides.map((side) => contestant(side, async (round) => ({ value: side.rounds[round]!.p99 }))),
    warmUpRounds: 0,
    goals: [{ of: OURS, to: TRANSACTION, atMost: 1 }],
  });
  await bench.compare({
    title: `${title}, CPU of these rounds`,
    unit: 'us/request',
    contestants: sides.map((side) =>
      contestant(side, async (round) => {
        const { cpu } = side.rounds[round]!;
        return { value: cpu[SERVICE]! + cpu[POSTGRES]! };
      }),
    ),
    warmUpRounds: 0,
    goals: [{ of: OURS, to: TRANSACTION, atMost: 1 }],
  });
  for (const { name, rounds } of sides) {
    for (const part of [SERVICE, POSTGRES, CLIENT]) {
      bench.note(
        `${title}, ${name}: CPU of ${part}`,
        median(rounds.map(({ cpu }) => cpu[part]!)),
        'us/request',
      );
    }
  }
}

function contestant({ name }: Side, round: (round: number) => Promise<Sample>): Contestant {
  return { name, role: name === OURS ? 'ours' : 'peer', round };
}

interface Round {
  readonly p99: number;
  /** Microseconds a request, by part. */
  readonly cpu: Readonly<Record<string, number>>;
}

/** A service, and the tenants that report to it. */
class Side {
  readonly name: string;
  readonly rounds: Round[] = [];
  readonly #process: BenchProcess;
  readonly #postmaster: number | undefined;
  readonly #tenants: readonly { readonly key: string }[];
  readonly #sent: number[] = Array(RELAYS).fill(0);

  constructor(
    name: string,
    process: BenchProcess,
    postmaster: number | undefined,
    tenants: readonly { readonly key: string }[],
  ) {
    this.name = name;
    this.#process = process;
    this.#postmaster = postmaster;
    this.#tenants = tenants;
  }

  send(requests: number) {
    return runLoad({
      urls: [this.#process.url],
      connections: RELAYS,
      request: (_, relay) => {
        const rows = makeRows(relay, this.#sent[relay]!, RECORDS);
        this.#sent[relay]! += RECORDS;
        return usageRequest(this.#process.url, this.#tenants[relay % this.#tenants.length]!.key, rows);
      },
      until: { requests },
      statuses: [200],
      isRight: (body) => parseCharged(body).charged === RECORDS,
    });
  }

  async measure(requests: number): Promise<Sample> {
    const meter = new CpuMeter({
      [SERVICE]: this.#process.pid,
      [POSTGRES]: this.#postmaster,
      [CLIENT]: process.pid,
    });
    meter.start();
    const { rate, latencies } = await this.send(requests);
    meter.stop();
    const cpu = [...meter.seconds].map(([part, seconds]) => [part, (seconds * 1e6) / requests] as const);
    this.rounds.push({
      p99: percentile(Float64Array.from(latencies).sort(), 99),
      cpu: {
        [SERVICE]: Number.NaN,
        [POSTGRES]: Number.NaN,
        [CLIENT]: Number.NaN,
        ...Object.fromEntries(cpu),
      },
    });
    return { value: rate, latencies };
  }
}
