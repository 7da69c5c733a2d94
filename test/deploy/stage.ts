/** Two services on one cluster, the second one through PgBouncer, with relays that report to both. */
import { generateKeyPairSync } from 'node:crypto';
import { createLocalJWKSet, type JSONWebKeySet, jwtVerify } from 'jose';
import { onLongConnection, openPool, type Pool } from '../../src/base/db/pool.ts';
import type { TenantId } from '../../src/base/tenants/tenant.ts';
import { adjustCredit } from '../../src/money/ledger/adjust-credit.ts';
import { showAllRecords } from '../support/all-records.ts';
import { checkLedger } from '../support/check-ledger.ts';
import { makeKey, makeTenant, OPERATOR } from '../support/tenants.ts';
import type { Fault } from './faults.ts';
import { HaCluster } from './ha-cluster.ts';
import { Load } from './load.ts';
import { type MainProcess, startMainProcess } from './main-process.ts';
import { post } from './post.ts';

/** The address of each service. */
const RELAYS = 3;
const MICROS = 10n ** 12n;

export interface Outcome {
  /** Acknowledged. */
  readonly records: number;
  /** Those of all tenants. */
  readonly archived?: number;
  /** One line for each record that is lost or doubled, and for whatever else is wrong. */
  readonly problems: readonly string[];
}

export class HaStage {
  readonly cluster: HaCluster;
  /** Opens the primary as the owner. */
  readonly db: Pool;
  /** The address of the service through PgBouncer. */
  readonly pooledUrl: string;
  readonly #services: readonly MainProcess[];
  readonly #load: Load;
  readonly #credential: string;
  readonly #token: string;

  private constructor(
    cluster: HaCluster,
    db: Pool,
    services: readonly MainProcess[],
    load: Load,
    device: { readonly credential: string; readonly token: string },
  ) {
    this.cluster = cluster;
    this.db = db;
    this.#services = services;
    this.pooledUrl = services[1]!.url;
    this.#load = load;
    this.#credential = device.credential;
    this.#token = device.token;
  }

  static async open(): Promise<HaStage> {
    const cluster = await HaCluster.start();
    const db = openPool(cluster.ownerUrl, { max: 2 });
    const services: MainProcess[] = [];
    try {
      const { url, poolerUrl, ownerUrl } = cluster;
      const settings = { MIGRATIONS_DATABASE_URL: ownerUrl, ARCHIVE_AFTER: '0' };
      services.push(await startMainProcess({ ...settings, DATABASE_URL: url }));
      const pooled = { DATABASE_URL: poolerUrl, DATABASE_DIRECT_URL: url };
      services.push(await startMainProcess({ ...settings, ...pooled }));
      const device = await newDevice(services[0]!, db);
      const load = new Load(await Promise.all(services.flatMap((service) => reporters(service, db))));
      return new HaStage(cluster, db, services, load, device);
    } catch (error) {
      const logs = cluster.logs();
      await close(cluster, db, services);
      throw new Error(logs, { cause: error });
    }
  }

  /**
   * Let it happen, wait until all goes on, and mend it. Returns the ms until both services acknowledged records again.
   * `meanwhile`: before it is mended.
   */
  async suffer(fault: Fault, meanwhile = async () => {}): Promise<number> {
    await this.cluster.isSynchronous();
    await this.#load.goesOn();
    const primary = await this.cluster.becomesPrimary();
    const begun = performance.now();
    const mend = await fault.happen(this.cluster, primary);
    if (fault.movesPrimary) await this.cluster.becomesPrimary(primary);
    await this.#load.goesOn();
    const pause = this.#load.pauseSince(begun);
    await meanwhile();
    mend?.();
    return pause;
  }

  /** A token from before is verified with the keys of each service, and its device gets another one there. */
  async checkTokens(): Promise<void> {
    for (const { url } of this.#services) {
      const keys = await fetch(`${url}/.well-known/jwks.json`);
      await jwtVerify(this.#token, createLocalJWKSet((await keys.json()) as JSONWebKeySet));
      await join(url, this.#credential);
    }
  }

  /** End the load, and look at what it left. */
  async settle(): Promise<Outcome> {
    const records = await this.#load.stop();
    const { archived, problems } = await onLongConnection(this.db, async (client) => {
      await client.query('analyze');
      return {
        archived: await showAllRecords(client),
        problems: [...(await this.#load.findDifferences(client)), ...(await checkLedger(client))],
      };
    });
    if (this.#services.some(({ child }) => child.exitCode !== null)) problems.push('a service has ended');
    return { records, archived, problems };
  }

  async close(): Promise<void> {
    await close(this.cluster, this.db, this.#services);
  }
}

async function close(cluster: HaCluster, db: Pool, services: readonly MainProcess[]): Promise<void> {
  for (const { child } of services) child.kill('SIGKILL');
  await db.end();
  await cluster.stop();
}

function reporters({ url }: MainProcess, db: Pool) {
  return Array.from({ length: RELAYS }, async () => {
    const tenant = await newTenant(db);
    return { url, tenant, relayKey: (await makeKey(db, tenant, 'relay')).plaintext };
  });
}

/** With credit. */
export async function newTenant(db: Pool): Promise<TenantId> {
  const tenant = await makeTenant(db, { status: 'active' });
  await adjustCredit(db, OPERATOR, tenant, { amount: MICROS, reason: 'for a test', id: undefined });
  return tenant;
}

async function newDevice({ url }: MainProcess, db: Pool) {
  const { plaintext } = await makeKey(db, await newTenant(db), 'backend');
  const answer = await post(`${url}/v1/device-credentials`, plaintext, {
    name: 'a device',
    publish: ['audio'],
  });
  const { credential } = answer as { readonly credential: string };
  return { credential, token: await join(url, credential) };
}

/** Returns the token. */
async function join(url: string, credential: string): Promise<string> {
  const { publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const { kty, crv, x, y } = publicKey.export({ format: 'jwk' });
  const answer = await post(`${url}/join`, credential, {
    username: 'ann',
    room: 'lobby',
    key: { kty, crv, x, y },
  });
  return (answer as { readonly token: string }).token;
}
