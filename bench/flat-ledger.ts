/** A ledger of many usage records, written by the service itself. */
import pg from 'pg';
import { newKey } from '../src/access/keys/api-key.ts';
import { migrate } from '../src/base/db/migrate.ts';
import { openPool, type Pool } from '../src/base/db/pool.ts';
import type { TenantId } from '../src/base/tenants/tenant.ts';
import type { Bench } from './benchmark.ts';
import { runLoad } from './load.ts';
import { Relays } from './relays.ts';
import { makeBenchTenant, openService, type Stand } from './stand.ts';

export const TENANTS = 200;
export const BATCH = 5_000;
const RELAYS_OF_BIG = 10;
const OLD_BATCHES = 30;
const CONNECTIONS = 4;
const REQUESTS_AT_ONCE = 100;

/** A database with a service process on it. */
export interface Ledger {
  readonly name: string;
  readonly db: Pool;
  readonly url: string;
  /** The tenant with half of the records. */
  readonly big: Tenant;
  /** One of the other tenants, which share the other half equally. */
  readonly other: Tenant;
  /** Batches of BATCH records of `big`, as sent when the ledger was half full. */
  readonly old: readonly Buffer[];
}

export interface Tenant {
  readonly relays: Relays;
  readonly backendKey: string;
}

/** Create a database on the server of `stand` and report `records` records to a service on it. */
export async function openLedger(bench: Bench, stand: Stand, records: number): Promise<Ledger> {
  const name = `${named(records)} records`;
  const own = await createDatabase(bench, stand, `records_${records}`);
  const url = (await openService(bench, own)).urls[0]!;
  const big = await openTenant(own, url, RELAYS_OF_BIG);
  const others: Tenant[] = [];
  while (others.length < TENANTS - 1) others.push(await openTenant(own, url, 1));
  const history = new History(
    records,
    big.relays,
    others.map(({ relays }) => relays),
  );
  while (history.left > 0) {
    bench.progress(`filling ${name}: round ${named(records - history.left)} of ${named(records)}`);
    await send(url, history.next(REQUESTS_AT_ONCE));
  }
  const other = others[0]!;
  // In a small ledger, a tenant has fewer entries than a list page.
  await send(url, [big.relays.batch(100), other.relays.batch(100)]);
  bench.progress(`vacuuming ${name}`);
  await vacuum(own);
  return { name, db: own.db, url, big, other, old: history.old };
}

export function named(count: number): string {
  return count.toLocaleString('en-US');
}

export async function createDatabase(bench: Bench, { db, databaseUrl }: Stand, name: string): Promise<Stand> {
  await db.query(`create database ${name}`);
  const url = new URL(databaseUrl);
  url.pathname = `/${name}`;
  const own = openPool(url.href, { max: 2, applicationName: 'bench' });
  await bench.use(Promise.resolve(own), () => own.end());
  await migrate(own);
  return { databaseUrl: url.href, db: own };
}

async function openTenant(stand: Stand, url: string, relays: number): Promise<Tenant> {
  const { tenant, key } = await makeBenchTenant(stand, 'relay');
  return { relays: new Relays(url, key, relays), backendKey: await addBackendKey(stand, tenant) };
}

async function addBackendKey({ db }: Stand, tenant: TenantId): Promise<string> {
  const { id, hash, plaintext } = newKey('svc');
  await db.query(
    `insert into api_keys (id, tenant_id, name, kind, hash) values ($1, $2, 'backend', 'backend', $3)`,
    [id, tenant, hash],
  );
  return plaintext;
}

async function send(url: string, requests: readonly Buffer[]): Promise<void> {
  await runLoad({
    urls: [url],
    connections: CONNECTIONS,
    request: (index) => requests[index]!,
    until: { requests: requests.length },
    statuses: [200],
  });
}

/** Not through the pool, which cancels a statement after some seconds. */
async function vacuum({ databaseUrl }: Stand): Promise<void> {
  const client = new pg.Client(databaseUrl);
  await client.connect();
  await client.query('vacuum analyze').finally(() => client.end());
}

/** The records that fill the ledger: half by `big`, half by the others, interleaved. */
class History {
  readonly old: Buffer[] = [];
  readonly #half: number;
  readonly #big: Relays;
  readonly #others: readonly Relays[];
  #ofBig = 0;
  #ofOthers = 0;
  #turn = 0;

  constructor(records: number, big: Relays, others: readonly Relays[]) {
    this.#half = records / 2;
    this.#big = big;
    this.#others = others;
  }

  /** In records. */
  get left(): number {
    return 2 * this.#half - this.#ofBig - this.#ofOthers;
  }

  /** This many requests, or the rest. */
  next(count: number): Buffer[] {
    const requests: Buffer[] = [];
    while (requests.length < count && this.left > 0) {
      const isBig = this.#ofBig <= this.#ofOthers && this.#ofBig < this.#half;
      requests.push(isBig ? this.#nextOfBig() : this.#nextOfOthers());
    }
    return requests;
  }

  #nextOfBig(): Buffer {
    const size = Math.min(this.#big.usualSize(BATCH), this.#half - this.#ofBig);
    const request = this.#big.batch(size);
    this.#ofBig += size;
    const isOld = size === BATCH && this.#ofBig >= this.#half / 2;
    if (isOld && this.old.length < OLD_BATCHES) this.old.push(request);
    return request;
  }

  #nextOfOthers(): Buffer {
    const relays = this.#others[this.#turn % this.#others.length]!;
    const share = Math.ceil(this.#half / this.#others.length);
    const size = Math.min(relays.usualSize(BATCH), share, this.#half - this.#ofOthers);
    this.#ofOthers += size;
    this.#turn += 1;
    return relays.batch(size);
  }
}
