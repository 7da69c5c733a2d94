/** The service on one server, and on a Citus cluster of which each server has the same settings. */
import { readDistribution } from '../src/base/db/distribution.ts';
import { migrate } from '../src/base/db/migrate.ts';
import { openPool } from '../src/base/db/pool.ts';
import { distribute } from '../src/run/distribution/distribute.ts';
import { CitusCluster, findMissingCitus } from '../test/deploy/citus-cluster.ts';
import type { PostgresServer } from '../test/deploy/postgres-server.ts';
import { openScratch } from '../test/support/scratch.ts';
import type { Bench } from './benchmark.ts';
import { factsOf, makeBenchTenant, openProcess, type Stand } from './stand.ts';

export interface Side {
  readonly name: string;
  readonly role: 'floor' | 'ours';
  /** The address of the service. */
  readonly url: string;
  readonly pid: number;
  /** The coordinator first. */
  readonly servers: readonly PostgresServer[];
  /** A relay's key of each tenant. */
  readonly keys: readonly string[];
  /** Number of records sent so far: no two of them have the same id. */
  sent: number;
}

/** With so many tenants each, on the cluster as many on each worker. */
export async function openSides(bench: Bench, tenants: number): Promise<readonly [Side, Side]> {
  bench.progress('starting four servers');
  const cluster = await openCluster(bench);
  const alone = await cluster.startAlone();
  // Tenants of the cluster are made with the switch of this process set, so those of one server come first.
  return [
    await openSide(bench, { name: 'one server', role: 'floor', servers: [alone] }, { tenants }),
    await openSide(
      bench,
      { name: 'a coordinator and two workers', role: 'ours', servers: cluster.servers },
      { tenants, cluster },
    ),
  ];
}

async function openSide(
  bench: Bench,
  side: Pick<Side, 'name' | 'role' | 'servers'>,
  { tenants, cluster }: { readonly tenants: number; readonly cluster?: CitusCluster },
): Promise<Side> {
  bench.progress(`filling ${side.name}`);
  const stand = await openStandOn(bench, side.servers, cluster !== undefined);
  const keys: string[] = [];
  const onWorkers = new Map<unknown, number>();
  while (keys.length < tenants) {
    const { tenant, key } = await makeBenchTenant(stand, 'relay');
    const worker = await cluster?.workerOf(tenant);
    const beside = onWorkers.get(worker) ?? 0;
    if (cluster && beside >= tenants / cluster.workers.length) continue;
    onWorkers.set(worker, beside + 1);
    keys.push(key);
  }
  const { url, pid } = await openProcess(bench, stand, './service.ts');
  return {
    ...side,
    url,
    pid,
    sent: 0,
    keys,
  };
}

/** For benchmarks of anything, without a server beside it. */
export async function openDistributedStand(bench: Bench): Promise<Stand> {
  bench.progress('starting three servers');
  return openStandOn(bench, (await openCluster(bench)).servers, true);
}

export function openCluster(bench: Bench): Promise<CitusCluster> {
  const missing = findMissingCitus();
  if (missing) throw new Error(`no ${missing} found`);
  const scratch = openScratch('boxoffice-bench-', { isOnDisk: true });
  return bench.use(CitusCluster.start({ scratch, isDirect: true }), (opened) => opened.stop());
}

/** A migrated database on the first of these servers. */
export async function openStandOn(
  bench: Bench,
  servers: readonly PostgresServer[],
  isDistributed: boolean,
): Promise<Stand> {
  const databaseUrl = servers[0]!.url();
  await prepare(databaseUrl, isDistributed);
  const db = await bench.use(Promise.resolve(openPool(databaseUrl, { max: 2 })), (opened) => opened.end());
  bench.measuredOn(await factsOf(db));
  return { databaseUrl, db, servers };
}

async function prepare(databaseUrl: string, isDistributed: boolean): Promise<void> {
  const db = openPool(databaseUrl, { max: 2 });
  try {
    await migrate(db);
    if (isDistributed) await distribute(db, () => undefined);
    await readDistribution(db);
  } finally {
    await db.end();
  }
}
