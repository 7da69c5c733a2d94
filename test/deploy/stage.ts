/** Two services on one cluster, the second one through PgBouncer, with relays that report to both. */
import { createLocalJWKSet, jwtVerify } from 'jose';
import pg from 'pg';
import { expect } from 'vitest';
import { openPool, type Pool } from '../../src/base/db/pool.ts';
import { renderTenantId, type TenantId } from '../../src/base/tenants/tenant.ts';
import { adjustCredit } from '../../src/money/ledger/adjust-credit.ts';
import { startMain } from '../run/workers/support.ts';
import { checkLedger } from '../support/check-ledger.ts';
import { deviceKey } from '../support/devices.ts';
import { ask } from '../support/service.ts';
import { makeKey, makeTenant, OPERATOR } from '../support/tenants.ts';
import type { Fault } from './faults.ts';
import { HaCluster } from './ha-cluster.ts';
import { Load } from './load.ts';

/** Tenants of each service. */
const TENANTS = 3;
const MICROS = 10n ** 12n;

export class HaStage {
  readonly cluster: HaCluster;
  /** Opens the primary as the owner. */
  readonly db: Pool;
  readonly urls: readonly string[];
  readonly load: Load;
  readonly #ends: readonly (() => void)[];
  readonly #services: readonly { exitCode: number | null }[];
  readonly #token: string;
  readonly #credential: string;

  private constructor(given: Pick<HaStage, 'cluster' | 'db' | 'urls' | 'load'> & Opened) {
    this.cluster = given.cluster;
    this.db = given.db;
    this.urls = given.urls;
    this.load = given.load;
    this.#ends = given.ends;
    this.#services = given.services;
    this.#token = given.token;
    this.#credential = given.credential;
  }

  static async open(): Promise<HaStage> {
    const cluster = await HaCluster.start();
    const ends: (() => void)[] = [];
    try {
      const settings = { WORKERS: '1', LOG_LEVEL: 'warn', MIGRATIONS_DATABASE_URL: cluster.ownerUrl };
      const start = (own: Record<string, string>) =>
        startMain({ ...settings, ...own }, (end) => void ends.push(end));
      const first = await start({ DATABASE_URL: cluster.url });
      const second = await start({ DATABASE_URL: cluster.poolerUrl, DATABASE_DIRECT_URL: cluster.url });
      const urls = [first.url, second.url];
      const db = openPool(cluster.ownerUrl, { max: 2 });
      const tenants = await Promise.all(
        [...urls, ...urls, ...urls]
          .slice(0, 2 * TENANTS)
          .map(async (url) => ({ url, ...(await newTenant(db)) })),
      );
      const credential = await createCredential(urls[0]!, tenants[0]!.tenant, db);
      const token = await join(urls[0]!, credential);
      const load = new Load(tenants);
      await load.goesOn();
      const services = [first.child, second.child];
      return new HaStage({ cluster, db, urls, load, ends, services, token, credential });
    } catch (error) {
      for (const end of ends) end();
      const logs = cluster.logs();
      await cluster.stop();
      throw new Error(logs, { cause: error });
    }
  }

  /**
   * Let it happen, wait until all goes on, and mend it. Returns the ms until both services acknowledged records again.
   * `meanwhile`: before it is mended.
   */
  async suffer(fault: Fault, meanwhile = async () => {}): Promise<number> {
    await this.cluster.isSynchronous();
    const primary = await this.cluster.becomesPrimary();
    const begun = performance.now();
    const mend = await fault.happen(this.cluster, primary);
    if (fault.movesPrimary) await this.cluster.becomesPrimary(primary);
    await this.load.goesOn();
    const pause = this.load.pauseSince(begun);
    await meanwhile();
    mend?.();
    return pause;
  }

  /** A token from before is verified with the keys of each service, and its credential gets another. */
  async checkTokens(): Promise<void> {
    for (const url of this.urls) {
      const { json } = await ask(`${url}/.well-known/jwks.json`, 'GET');
      await jwtVerify(this.#token, createLocalJWKSet(json));
      await join(url, this.#credential);
    }
  }

  /** End the load. Returns the number of records, and one line for each that is lost, doubled, or wrongly charged. */
  async settle(): Promise<{ records: number; problems: string[] }> {
    const records = await this.load.stop();
    // Without the time limits of a pool.
    const client = new pg.Client(this.cluster.ownerUrl);
    await client.connect();
    await client.query('analyze');
    const wrong = await checkLedger(client).finally(() => client.end());
    const problems = [...(await this.load.findDifferences(this.db)), ...wrong];
    if (this.#services.some(({ exitCode }) => exitCode !== null)) problems.push('a service has ended');
    return { records, problems };
  }

  async close(): Promise<void> {
    for (const end of this.#ends) end();
    await this.db.end();
    await this.cluster.stop();
  }
}

interface Opened {
  readonly ends: readonly (() => void)[];
  readonly services: readonly { exitCode: number | null }[];
  readonly token: string;
  readonly credential: string;
}

/** With credit, and a key of its relay. */
async function newTenant(db: Pool): Promise<{ tenant: TenantId; relayKey: string }> {
  const tenant = await makeTenant(db, { status: 'active' });
  await adjustCredit(db, OPERATOR, tenant, { amount: MICROS, reason: 'for a test', id: undefined });
  return { tenant, relayKey: (await makeKey(db, tenant, 'relay')).plaintext };
}

async function createCredential(url: string, tenant: TenantId, db: Pool): Promise<string> {
  const { plaintext: key } = await makeKey(db, tenant, 'backend');
  const body = { name: 'a device', publish: ['audio'] };
  const answer = await ask(`${url}/v1/device-credentials`, 'POST', { key, body });
  expect(answer.status, `${renderTenantId(tenant)}: ${answer.text}`).toBe(201);
  return answer.json.credential;
}

async function join(url: string, credential: string): Promise<string> {
  const body = { username: 'ann', key: deviceKey(), room: 'lobby' };
  const answer = await ask(`${url}/join`, 'POST', { key: credential, body });
  expect(answer.status, answer.text).toBe(200);
  return answer.json.token;
}
