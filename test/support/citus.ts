/** Databases on the Citus cluster of CITUS_URL. They are copied on each of its servers. */
import pg from 'pg';
import { readDistribution } from '../../src/base/db/distribution.ts';
import { migrate } from '../../src/base/db/migrate.ts';
import { openPool, type Pool } from '../../src/base/db/pool.ts';
import { distribute } from '../../src/run/distribution/distribute.ts';
import { databaseUrl } from './database-url.ts';

const ROLE = 'boxoffice_test_service';

export interface Cluster {
  /** The server of the coordinator first, then the workers. Each opens as a superuser. */
  readonly servers: readonly string[];
  /** The coordinator as a role that owns nothing. */
  readonly applicationUrl: string;
}

/** `coordinatorUrl` opens a database of the cluster as a superuser. */
export async function findCluster(coordinatorUrl: string): Promise<Cluster> {
  const nodes = await runOn(coordinatorUrl, [
    `select nodename as host, nodeport as port from pg_dist_node where groupid > 0 and isactive order by nodeid`,
  ]);
  const workers = nodes.map(({ host, port }) => {
    const url = new URL(coordinatorUrl);
    url.hostname = String(host);
    url.port = String(port);
    return url.href;
  });
  await runOn(coordinatorUrl, [
    `do $$ begin create role ${ROLE} login; exception when duplicate_object then null; end $$`,
  ]);
  const application = new URL(coordinatorUrl);
  application.username = ROLE;
  return { servers: [coordinatorUrl, ...workers], applicationUrl: application.href };
}

/** Create an empty database whose extension knows all servers. */
export async function createCitusDatabase({ servers }: Cluster, name: string): Promise<void> {
  for (const server of servers) {
    await runOn(server, [`create database ${name}`]);
    await runOn(databaseUrl(server, name), ['create extension citus']);
  }
  const [coordinator, ...workers] = servers.map((server) => new URL(server));
  await runOn(databaseUrl(coordinator!.href, name), [
    `select citus_set_coordinator_host('${coordinator!.hostname}', ${coordinator!.port})`,
    ...workers.map(({ hostname, port }) => `select citus_add_node('${hostname}', ${port})`),
  ]);
}

/** Create a database to copy from, migrated and distributed. */
export async function createCitusTemplate(cluster: Cluster, name: string): Promise<void> {
  await createCitusDatabase(cluster, name);
  const url = databaseUrl(cluster.servers[0]!, name);
  await withPool(url, async (pool) => {
    await migrate(pool);
    await distribute(pool, () => undefined);
    await readDistribution(pool);
  });
  // Sessions have the settings of a distributed database from now on, as those of a service.
  await withPool(url, (pool) => migrate(pool, { application: ROLE }));
  for (const server of cluster.servers) {
    await runOn(server, [
      `alter database ${name} with allow_connections false`,
      `select pg_terminate_backend(pid, 5000) from pg_stat_activity where datname = '${name}'`,
    ]);
  }
}

async function withPool(url: string, work: (pool: Pool) => Promise<unknown>): Promise<void> {
  const pool = openPool(url, { max: 2 });
  try {
    await work(pool);
  } finally {
    await pool.end();
  }
}

export async function copyCitusDatabase(servers: readonly string[], name: string, template: string) {
  await Promise.all(
    servers.map((server) =>
      runOn(server, [
        `create database ${name} template ${template} strategy file_copy`,
        // As distributing does it: a copy does not have the settings.
        `alter database ${name} set jit = off`,
      ]),
    ),
  );
}

/** A worker's database first lets go of the prepared transactions that a killed service left. */
export async function dropCitusDatabase(servers: readonly string[], name: string): Promise<void> {
  await Promise.all(
    servers.map((server) =>
      runOn(server, [`drop database if exists ${name} with (force)`]).catch((error: Error) => {
        console.warn(`${name} is left behind: ${error.message}`);
      }),
    ),
  );
}

async function runOn(server: string, statements: readonly string[]): Promise<Record<string, unknown>[]> {
  const client = new pg.Client(server);
  await client.connect();
  try {
    let rows: Record<string, unknown>[] = [];
    for (const statement of statements) rows = (await client.query(statement)).rows;
    return rows;
  } finally {
    await client.end();
  }
}
