/** Two services on a distributed database, with a relay of each of its tenants, which report all the time. */
import { once } from 'node:events';
import type pg from 'pg';
import { onLongConnection, openPool } from '../../src/base/db/pool.ts';
import { parseTenantId, type TenantId } from '../../src/base/tenants/tenant.ts';
import { type Outcome as Ended, spawnAdmin } from '../run/admin/support.ts';
import { showAllRecords } from '../support/all-records.ts';
import { checkLedger } from '../support/check-ledger.ts';
import { makeOperator } from '../support/operators.ts';
import { CitusCluster, type Worker } from './citus-cluster.ts';
import { Load } from './load.ts';
import { type MainProcess, startMainProcess } from './main-process.ts';
import { post } from './post.ts';
import { DATABASE } from './postgres-server.ts';
import { waitFor } from './processes.ts';
import type { Outcome } from './stage.ts';

/** The port of each worker. */
const TENANTS = 10;

interface Placed {
  readonly tenant: TenantId;
  readonly backendKey: string;
  readonly relayKey: string;
  readonly worker: Worker;
}

export class CitusStage {
  readonly cluster: CitusCluster;
  readonly tenants: readonly Placed[];
  readonly load: Load;
  readonly #services: readonly MainProcess[];

  private constructor(
    cluster: CitusCluster,
    tenants: readonly Placed[],
    load: Load,
    services: readonly MainProcess[],
  ) {
    this.cluster = cluster;
    this.tenants = tenants;
    this.load = load;
    this.#services = services;
  }

  /** As docs/processes.md says: the service migrates, the tables are distributed, and services start as a role without rights. */
  static async open(): Promise<CitusStage> {
    const cluster = await CitusCluster.start();
    const services: MainProcess[] = [];
    try {
      const owner = { DATABASE_URL: cluster.coordinator.url() };
      await stop(await startMainProcess(owner));
      const distributed = await spawnAdmin(owner, 'database', 'distribute');
      if (distributed.code !== 0) throw new Error(distributed.err);
      const env = {
        DATABASE_URL: cluster.url,
        MIGRATIONS_DATABASE_URL: owner.DATABASE_URL,
        ARCHIVE_AFTER: '0',
      };
      for (let count = 0; count < 2; count += 1) services.push(await startMainProcess(env));
      const tenants = await placeTenants(cluster, services);
      const load = new Load(
        tenants.map(({ tenant, relayKey }, index) => ({ url: services[index % 2]!.url, tenant, relayKey })),
      );
      return new CitusStage(cluster, tenants, load, services);
    } catch (error) {
      const logs = cluster.logs();
      await close(cluster, services);
      throw new Error(logs, { cause: error });
    }
  }

  get url(): string {
    return this.#services[0]!.url;
  }

  /** What each of the services tells of the workers: by name, whether it is there. */
  async serversShown(): Promise<readonly Readonly<Record<string, string>>[]> {
    const told = await Promise.all(
      this.#services.map(async ({ opsUrl }) => (await fetch(`${opsUrl}/metrics`)).text()),
    );
    return told.map((text) =>
      Object.fromEntries(
        [...text.matchAll(/^boxoffice_database_server_reachable{server="(\S+)"} (\d)$/gm)].map(
          ([, server, value]) => [server!, value!],
        ),
      ),
    );
  }

  /** The overview of the operators' console. */
  async showOverview(): Promise<string> {
    const owner = openPool(this.cluster.coordinator.url(), { max: 1 });
    const { cookie } = await makeOperator(owner).finally(() => owner.end());
    return (await fetch(`${this.#services[0]!.opsUrl}/console`, { headers: { cookie } })).text();
  }

  /** The tenants whose rows `worker` has, and the others. */
  divide(worker: Worker): { readonly own: readonly TenantId[]; readonly others: readonly TenantId[] } {
    const of = (isOwn: boolean) =>
      this.tenants.filter((each) => (each.worker === worker) === isOwn).map(({ tenant }) => tenant);
    return { own: of(true), others: of(false) };
  }

  /** A tenant that shares its shard with another one. */
  async findNeighbour(): Promise<TenantId> {
    for (const { tenant } of this.tenants) {
      if ((await this.cluster.tenantsBeside(tenant)).length > 0) return tenant;
    }
    throw new Error('each tenant has a shard of its own');
  }

  /** Resolves when every tenant has reported. */
  async goesOn(): Promise<void> {
    await this.load.goesOnFor(this.tenants.map(({ tenant }) => tenant));
  }

  /** How many of these tenants have usage from before `time` that is not added up. */
  async countBehind(tenants: readonly TenantId[], time: Date): Promise<number> {
    const behind = await Promise.all(
      tenants.map((tenant) =>
        this.cluster.coordinator.query(
          'select tenant_id from usage_deltas where tenant_id = $1 and at < $2 limit 1',
          DATABASE,
          [tenant, time],
        ),
      ),
    );
    return behind.filter(({ length }) => length > 0).length;
  }

  admin(...args: string[]): Promise<Ended> {
    return spawnAdmin({ DATABASE_URL: this.cluster.coordinator.url(), PAYMENTS: 'none' }, ...args);
  }

  /** End the load, and look at what it left. */
  async settle(): Promise<Outcome> {
    const records = await this.load.stop();
    const { archived, problems } = await this.#withAllRecords(async (client, count) => ({
      archived: count,
      problems: [...(await this.load.findDifferences(client)), ...(await checkLedger(client))],
    }));
    const { code, out } = await this.admin('verify');
    if (code !== 0) problems.push(out);
    if (this.#services.some(({ child }) => child.exitCode !== null)) problems.push('a service has ended');
    return { records, archived, problems };
  }

  /** As `Load` names them. */
  async storedRecords(): Promise<ReadonlySet<string>> {
    return this.#withAllRecords((client) => this.load.stored(client));
  }

  /** `work` is told how many records are archived. */
  async #withAllRecords<T>(work: (client: pg.Client, archived: number) => Promise<T>): Promise<T> {
    const owner = openPool(this.cluster.coordinator.url(), { max: 1 });
    return onLongConnection(owner, async (client) =>
      work(client, await showAllRecords(client, { isDistributed: true })),
    ).finally(() => owner.end());
  }

  /** Resolves when no server has a transaction that is prepared and not ended. */
  async hasNothingPrepared(): Promise<void> {
    await waitFor('end of prepared transactions', async () => {
      const prepared = await Promise.all(
        this.cluster.servers.map((server) =>
          server.query(`select gid from pg_prepared_xacts where prepared < now() - interval '1 second'`),
        ),
      );
      return prepared.flat().length === 0;
    });
  }

  async close(): Promise<void> {
    await close(this.cluster, this.#services);
  }
}

async function close(cluster: CitusCluster, services: readonly MainProcess[]): Promise<void> {
  for (const { child } of services) child.kill('SIGKILL');
  await cluster.stop();
}

async function stop({ child }: MainProcess): Promise<void> {
  child.kill('SIGTERM');
  await once(child, 'exit');
}

/** As many on each worker. Where a tenant comes to lie is chance. */
async function placeTenants(
  cluster: CitusCluster,
  services: readonly MainProcess[],
): Promise<readonly Placed[]> {
  const placed: Placed[] = [];
  while (placed.length < TENANTS * cluster.workers.length) {
    const made = await makeTenant(cluster, services[0]!);
    const worker = await cluster.workerOf(made.tenant);
    if (placed.filter((each) => each.worker === worker).length < TENANTS) placed.push({ ...made, worker });
  }
  return placed;
}

async function makeTenant(cluster: CitusCluster, { url }: MainProcess) {
  const args = ['tenants', 'create', '--name', 'a tenant', '--email', 'ada@example.com', '--json'];
  const { json } = await spawnAdmin({ DATABASE_URL: cluster.coordinator.url() }, ...args);
  const backendKey: string = json.api_key;
  const { api_key: relayKey } = (await post(`${url}/v1/keys`, backendKey, {
    name: 'relay',
    kind: 'relay',
  })) as { readonly api_key: string };
  return { tenant: parseTenantId(json.id)!, backendKey, relayKey };
}
