/** What distributing the tables over several servers costs. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Bench, Benchmark, Contestant } from './benchmark.ts';
import { measureCosts } from './costs.ts';
import { CpuMeter, measureCpu } from './cpu-meter.ts';
import { openDistributedStand, openSides, type Side } from './distributed-sides.ts';
import { type LoadResult, runLoad } from './load.ts';
import { makeRows, parseCharged, usageRequest } from './usage-records.ts';

const TENANTS = 12;
const CLIENTS = 24;
const BATCHES = [10, 500, 5_000] as const;
const SECONDS = 3;
/** As many clients of one tenant as keep its server busy. */
const LARGEST = { clients: 4, batch: 5_000 };
const CENSUS_SECONDS = 10;

export const distributed: Benchmark = {
  name: 'distributed',
  summary: `a Citus cluster of a coordinator and two workers beside one server on the same cores, ${TENANTS} tenants`,
  protocol: `Four PostgreSQL servers of this machine, with the same settings, fsync on: one by itself (the floor), and a
    Citus cluster of a coordinator and two workers. One process of the service on each side, with ${TENANTS} tenants, on the
    cluster as many on each worker. ${CLIENTS} clients report new records to POST /v1/usage, each as soon as it has its
    answer, for ${SECONDS} s a round; then ${LARGEST.clients} clients of one tenant report batches of ${LARGEST.batch}. The result is
    records charged a second. Statements and WAL are those of ${CENSUS_SECONDS} s, less those of as long without a request.
    Needs PostgreSQL with Citus, and runs only by name.`,
  rounds: 7,
  isByNameOnly: true,
  async run(bench) {
    const sides = await openSides(bench, TENANTS);
    for (const batch of BATCHES) {
      await bench.compare({
        title: `${TENANTS} tenants, batches of ${batch}`,
        unit: 'records/s',
        contestants: sides.map((side) => reporting(side, { clients: CLIENTS, batch, tenants: TENANTS })),
      });
    }
    await bench.compare({
      title: `one tenant, batches of ${LARGEST.batch}`,
      unit: 'records/s',
      contestants: sides.map((side) => reporting(side, { ...LARGEST, tenants: 1 })),
    });
    for (const side of sides) for (const batch of BATCHES) await countWork(bench, side, batch);
  },
};

interface Traffic {
  readonly clients: number;
  readonly batch: number;
  readonly tenants: number;
}

function reporting(side: Side, traffic: Traffic): Contestant {
  return {
    name: side.name,
    role: side.role,
    round: async () => {
      const postmasters = side.servers.map((server) => server.processes()[0]!);
      const { rate, latencies, cpu } = await measureCpu({ pid: side.pid, postmaster: postmasters }, () =>
        report(side, traffic, SECONDS),
      );
      return { value: rate * traffic.batch, latencies, cpu };
    },
  };
}

function report(side: Side, { clients, batch, tenants }: Traffic, seconds: number): Promise<LoadResult> {
  return runLoad({
    urls: [side.url],
    connections: clients,
    request: (_, client) => {
      const rows = makeRows(0, side.sent, batch);
      side.sent += batch;
      return usageRequest(side.url, side.keys[client % tenants], rows);
    },
    until: { seconds },
    statuses: [200],
    isRight: (body) => parseCharged(body).charged === batch,
  });
}

export const distributedCosts: Benchmark = {
  name: 'distributed-costs',
  summary: 'CPU time and WAL of each path, as costs has them, on a Citus cluster',
  protocol: `As costs, on a coordinator and two workers of this machine, fsync on. CPU and WAL are those of the three servers
    together. Needs PostgreSQL with Citus, and runs only by name.`,
  isByNameOnly: true,
  async run(bench) {
    await measureCosts(bench, await openDistributedStand(bench));
  },
};

/** What one server has done so far. */
interface Work {
  readonly statements: number;
  /** Bytes. */
  readonly wal: number;
}

async function countWork(bench: Bench, side: Side, batch: number): Promise<void> {
  bench.progress(`${side.name}: statements and WAL of batches of ${batch}`);
  const start = await workOf(side);
  await sleep(CENSUS_SECONDS * 1_000);
  const idle = await workOf(side);
  const meter = new CpuMeter(
    Object.fromEntries(side.servers.map((each) => [each.name, each.processes()[0]!])),
  );
  meter.start();
  const { requests } = await report(side, { clients: CLIENTS, batch, tenants: TENANTS }, CENSUS_SECONDS);
  meter.stop();
  const end = await workOf(side);
  for (const [index, { name }] of side.servers.entries()) {
    const done = (part: keyof Work) => {
      const rest = idle[index]![part] - start[index]![part];
      return end[index]![part] - idle[index]![part] - rest;
    };
    const title = `batches of ${batch}, ${side.role === 'floor' ? 'one server' : name}`;
    bench.note(`${title}: statements a batch`, done('statements') / requests, '');
    bench.note(`${title}: CPU a batch`, (meter.seconds.get(name)! * 1e6) / requests, 'us');
    bench.note(`${title}: WAL a record`, done('wal') / (requests * batch), 'bytes');
  }
}

function workOf({ servers }: Side): Promise<readonly Work[]> {
  return Promise.all(
    servers.map(async (server) => {
      const [work] = await server.query<{ statements: string; wal: string }>(
        `select (select sum(calls) from pg_stat_statements) as statements,
                pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0') as wal`,
      );
      return { statements: Number(work!.statements), wal: Number(work!.wal) };
    }),
  );
}
