/** Tenants whose usage records fill a database of its own, through the code that charges, without HTTP. */
import { randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { openPool } from '../src/base/db/pool.ts';
import type { Deps } from '../src/doors/deps.ts';
import { BUILT_IN_RATES } from '../src/money/pricing/rate-card.ts';
import { loadRates, RATES_FILE } from '../src/money/pricing/rate-cards.ts';
import { archiveRecords } from '../src/money/records/archive-records.ts';
import type { UsageRecord } from '../src/money/records/usage-record.ts';
import { UsageRecords } from '../src/money/records/usage-records.ts';
import { chargeTenant } from '../src/money/usage/charge-usage.ts';
import { foldUsage } from '../src/money/usage/fold-usage.ts';
import { makeKey } from '../test/support/tenants.ts';
import type { Bench } from './benchmark.ts';
import { ASSIGN_ALL } from './filled.ts';
import { createDatabase, named } from './flat-ledger.ts';
import { depsOn } from './settings.ts';
import { type BenchTenant, makeBenchTenant, onLongClient, type Stand } from './stand.ts';
import type { UsageRow } from './usage-records.ts';

export type Ids = 'ordered ids' | 'UUIDs';

const VACUUM_EVERY_MS = 500;
const RELAYS = 4;
const ROOMS = 40;

/** A tenant's records, each new. Ordered ids are `relay1-room7-000123`, of 160 streams in turn. */
export class Reports {
  readonly #ids: Ids;
  #made = 0;

  constructor(ids: Ids) {
    this.#ids = ids;
  }

  rows(count: number): UsageRow[] {
    return Array.from({ length: count }, () => {
      const at = this.#made++;
      const room = `room${at % ROOMS}`;
      const relay = Math.floor(at / ROOMS) % RELAYS;
      const number = String(Math.floor(at / ROOMS / RELAYS)).padStart(6, '0');
      const id = this.#ids === 'UUIDs' ? randomUUID() : `relay${relay}-${room}-${number}`;
      return { id, room, participant: `user-${at % 500}` };
    });
  }

  records(count: number): UsageRecords {
    return UsageRecords.from(
      this.rows(count).map((row): UsageRecord => {
        const egressBytes = BigInt(1_000_000 + Math.floor(Math.random() * 20_000_000));
        const ingressBytes = BigInt(Math.floor(Math.random() * 300_000));
        return { ...row, role: 'audience', tier: 'hd', seconds: 30, egressBytes, ingressBytes };
      }),
    );
  }
}

/** A database that has one tenant or several. */
export interface Side {
  readonly stand: Stand;
  readonly deps: Deps;
  readonly tenants: readonly (BenchTenant & { readonly reports: Reports; readonly backendKey: string })[];
}

/** Commits wait for the disk in the service, not here. */
export async function openSide(
  bench: Bench,
  stand: Stand,
  name: string,
  ids: Ids,
  tenants = 1,
): Promise<Side> {
  const own = await createDatabase(bench, stand, name);
  const url = new URL(own.databaseUrl);
  url.searchParams.set('options', '-c synchronous_commit=off');
  const db = openPool(url.href, { max: 4, plansByKey: true });
  await bench.use(Promise.resolve(db), () => db.end());
  await loadRates(db, RATES_FILE, BUILT_IN_RATES);
  const made: Side['tenants'][number][] = [];
  while (made.length < tenants) {
    const tenant = await makeBenchTenant(own, 'relay');
    const { plaintext: backendKey } = await makeKey(own.db, tenant.tenant, 'backend');
    made.push({ ...tenant, reports: new Reports(ids), backendKey });
  }
  return { stand: own, deps: depsOn(db), tenants: made };
}

/** Charge so many records of each tenant. */
export async function fill(
  bench: Bench,
  { deps, tenants }: Side,
  records: number,
  batch: number,
): Promise<void> {
  for (const { tenant, reports } of tenants) {
    for (let done = 0; done < records; done += batch) {
      if (done % 100_000 === 0) bench.progress(`charging, at ${named(done)} of ${named(records)}`);
      await chargeTenant(deps, tenant, [{ tenant, records: reports.records(batch) }]);
    }
  }
}

/** Vacuums meanwhile what merges leave, as the database would in the days that this takes elsewhere. */
export async function archive({ stand, deps }: Side): Promise<void> {
  const moving = { isOver: false };
  const vacuuming = onLongClient(stand, async (client) => {
    while (!moving.isOver) {
      await client.query('vacuum known_id_pages');
      await setTimeout(VACUUM_EVERY_MS);
    }
  });
  await archiveRecords({ ...deps, config: { archiveAfterSeconds: 0 } });
  moving.isOver = true;
  await vacuuming;
}

/** Otherwise jobs of a service would work through it during the measurement. */
export async function settle({ stand, deps }: Side): Promise<void> {
  await foldUsage(deps);
  await onLongClient(stand, async (client) => {
    await client.query(`${ASSIGN_ALL} on conflict do nothing`);
    await client.query('vacuum analyze');
  });
}
