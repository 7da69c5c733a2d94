/** A Citus cluster on this machine: a coordinator and two workers, and others that are added, on free ports. */
import { globSync } from 'node:fs';
import { join } from 'node:path';
import { openScratch, type Scratch } from '../support/scratch.ts';
import { findLastingPort } from './lasting-port.ts';
import { DATABASE, PostgresServer } from './postgres-server.ts';
import { findProgram, POSTGRES_BIN, Processes } from './processes.ts';
import { openRelay, type Relay } from './relay.ts';

const HOST = '127.0.0.1';
/** Owns nothing, as the role of services should. */
const SERVICE = 'boxoffice_app';

const SETTINGS = `
listen_addresses = '${HOST}'
unix_socket_directories = ''
shared_preload_libraries = 'pg_stat_statements'
wal_level = logical
max_connections = 300
max_worker_processes = 24
shared_buffers = 256MB
max_wal_size = 4GB
archive_mode = on
archive_command = '/bin/true'`;

/** As docs/processes.md asks for. What a killed coordinator left prepared is ended sooner than after a minute. */
const CITUS_SETTINGS = `${SETTINGS}
shared_preload_libraries = 'citus, pg_stat_statements'
output_plugin_libraries = 'pgoutput, test_decoding, citus'
max_prepared_transactions = 300
citus.shard_count = 8
citus.node_conninfo = 'sslmode=disable tcp_user_timeout=3000'
citus.node_connection_timeout = 3s
citus.recover_2pc_interval = 2s`;

/** What a cluster needs and this machine does not have. */
export function findMissingCitus(): string | undefined {
  if (POSTGRES_BIN === undefined) return 'PostgreSQL';
  if (globSync('/usr/share/postgresql/*/extension/citus.control').length === 0) return 'Citus';
  return findProgram('setpriv') === undefined ? 'setpriv' : undefined;
}

export interface Worker {
  readonly server: PostgresServer;
  /** From the coordinator, and from the other worker, unless they connect without it. */
  readonly relay: Relay;
  /** By which the coordinator knows it. */
  readonly port: number;
}

export interface ClusterOptions {
  readonly scratch?: Scratch;
  /** Without the relays, which cost time. */
  readonly isDirect?: boolean;
}

/** Makes the servers of a cluster, which are not started yet. */
class ServerMaker {
  readonly processes: Processes;
  readonly #folder: string;
  readonly #isDirect: boolean;

  constructor({ scratch = openScratch('boxoffice-citus-'), isDirect = false }: ClusterOptions) {
    this.processes = new Processes(scratch);
    this.#folder = scratch.folder;
    this.#isDirect = isDirect;
  }

  async make(name: string): Promise<PostgresServer> {
    return new PostgresServer(name, await findLastingPort(HOST), join(this.#folder, name), this.processes);
  }

  async makeWorker(name: string): Promise<Worker> {
    const server = await this.make(name);
    const relay = await openRelay(HOST, server.port);
    return { server, relay, port: this.#isDirect ? server.port : relay.port };
  }
}

export class CitusCluster {
  readonly coordinator: PostgresServer;
  readonly #maker: ServerMaker;
  #workers: readonly [Worker, Worker, ...Worker[]];

  private constructor(maker: ServerMaker, coordinator: PostgresServer, workers: readonly [Worker, Worker]) {
    this.#maker = maker;
    this.coordinator = coordinator;
    this.#workers = workers;
  }

  /** Resolves when the coordinator knows its workers. The database is empty. */
  static async start(options: ClusterOptions = {}): Promise<CitusCluster> {
    const maker = new ServerMaker(options);
    const coordinator = await maker.make('coordinator');
    const workers = [await maker.makeWorker('one'), await maker.makeWorker('two')] as const;
    const cluster = new CitusCluster(maker, coordinator, workers);
    try {
      await cluster.#start();
      return cluster;
    } catch (error) {
      const logs = cluster.logs();
      await cluster.stop();
      throw new Error(logs, { cause: error });
    }
  }

  get workers(): readonly [Worker, Worker, ...Worker[]] {
    return this.#workers;
  }

  get servers(): readonly PostgresServer[] {
    return [this.coordinator, ...this.workers.map(({ server }) => server)];
  }

  /** As the service connects. */
  get url(): string {
    return this.coordinator.url(SERVICE);
  }

  /** The worker that has the rows of a tenant. */
  async workerOf(tenant: bigint): Promise<Worker> {
    const [found] = await this.coordinator.query<{ port: number }>(
      `select nodeport as port from citus_shards
        where shardid = get_shard_id_for_distribution_column('accounts', $1::bigint)`,
      DATABASE,
      [tenant],
    );
    return this.workers.find(({ port }) => port === found!.port)!;
  }

  /** One more server beside the cluster, with the same settings and without Citus. */
  async startAlone(): Promise<PostgresServer> {
    const server = await this.#maker.make('alone');
    await startEmpty(server, SETTINGS);
    return server;
  }

  /** As docs/processes.md says: one more worker, to which some shards move. */
  async grow(): Promise<Worker> {
    const worker = await this.#maker.makeWorker('three');
    this.#workers = [...this.#workers, worker];
    await startCitus(worker.server);
    await this.#add(worker);
    await this.coordinator.query('select citus_rebalance_start()');
    await this.coordinator.query('select citus_rebalance_wait()');
    return worker;
  }

  /** Everything of the tenants of the shard goes along, while they report. */
  async moveShardOf(tenant: bigint, from: Worker, to: Worker): Promise<void> {
    await this.coordinator.query(
      `select citus_move_shard_placement(get_shard_id_for_distribution_column('accounts', $1::bigint),
                '${HOST}', $2, '${HOST}', $3)`,
      DATABASE,
      [tenant, from.port, to.port],
    );
  }

  /** The tenants of its shard wait meanwhile. */
  async isolate(tenant: bigint): Promise<void> {
    await this.coordinator.query(
      `select isolate_tenant_to_new_shard('accounts', $1::bigint, 'CASCADE', shard_transfer_mode := 'block_writes')`,
      DATABASE,
      [tenant],
    );
  }

  /** Other tenants in the shard of this one. */
  async tenantsBeside(tenant: bigint): Promise<readonly bigint[]> {
    const rows = await this.coordinator.query<{ id: string }>(
      `select id from tenants where id <> $1::bigint
          and get_shard_id_for_distribution_column('accounts', id) = get_shard_id_for_distribution_column('accounts', $1::bigint)`,
      DATABASE,
      [tenant],
    );
    return rows.map(({ id }) => BigInt(id));
  }

  /** Copy the files of every server, one after another, while they run. */
  async backUp(): Promise<void> {
    for (const server of this.servers) await server.backUp();
  }

  /** A moment at which no change of several servers is half made. Resolves when the archives have it. */
  async setRestorePoint(name: string): Promise<void> {
    await this.coordinator.query('select citus_create_restore_point($1)', DATABASE, [name]);
    for (const server of this.servers) await server.archive();
  }

  /** Lose all that was written since, on every server. */
  async restore(point: string): Promise<void> {
    for (const server of this.servers) await server.kill();
    for (const server of this.servers) await server.restore(point);
  }

  /** The rows of that name on each server, of a table that all have. */
  async countEverywhere(table: string, name: string): Promise<readonly number[]> {
    const counts = this.servers.map((server) =>
      server.query<{ count: number }>(`select count(*)::int from ${table} where name = $1`, DATABASE, [name]),
    );
    return (await Promise.all(counts)).map(([row]) => row!.count);
  }

  /** The newest lines of every log, for a test that failed. */
  logs(): string {
    return this.#maker.processes.logs();
  }

  async stop(): Promise<void> {
    for (const { relay } of this.workers) relay.close();
    await this.#maker.processes.stop();
  }

  async #start(): Promise<void> {
    await this.#maker.processes.ownFolder();
    for (const server of this.servers) await startCitus(server);
    const { coordinator } = this;
    await coordinator.query(`select citus_set_coordinator_host('${HOST}', ${coordinator.port})`);
    for (const worker of this.workers) await this.#add(worker);
  }

  async #add({ port }: Worker): Promise<void> {
    await this.coordinator.query(`select citus_add_node('${HOST}', ${port})`);
  }
}

async function startCitus(server: PostgresServer): Promise<void> {
  await startEmpty(server, CITUS_SETTINGS);
  await server.query('create extension citus');
}

async function startEmpty(server: PostgresServer, settings: string): Promise<void> {
  await server.create(settings);
  await server.start();
  await server.query(`create role ${SERVICE} login`, 'postgres');
  await server.query(`create database ${DATABASE}`, 'postgres');
  await server.query('create extension pg_stat_statements');
}
