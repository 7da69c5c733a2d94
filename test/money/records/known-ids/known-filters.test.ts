import { beforeEach, describe, expect, it } from 'vitest';
import type { Db } from '../../../../src/base/db/pool.ts';
import { hashText } from '../../../../src/money/records/known-ids/id-hash.ts';
import { KnownFilters } from '../../../../src/money/records/known-ids/known-filters.ts';
import { mergeRuns } from '../../../../src/money/records/known-ids/merge-runs.ts';
import { useDatabase } from '../../../support/database.ts';
import { seeded } from '../../../support/seeded.ts';
import { ArchivingTenant, hashesOf, spoilPages } from './archive.ts';

const database = useDatabase();
const MIB = 2 ** 20;

let tenants = 0n;
let now: number;
beforeEach(() => {
  now = 0;
});

const openFilters = (bytesMax: number) => new KnownFilters({ bytesMax, now: () => now });

function newTenant(): ArchivingTenant {
  tenants += 1n;
  return new ArchivingTenant(database, tenants);
}

async function withIds(count: number): Promise<ArchivingTenant> {
  const archive = newTenant();
  await archive.archive(count);
  return archive;
}

const load = (filters: KnownFilters, archive: ArchivingTenant, db: Db = database.pool, hasPaid = true) =>
  filters.load(db, archive.tenant, archive.archivedSeq, hasPaid);
const covers = (filters: KnownFilters, archive: ArchivingTenant) =>
  filters.covers(archive.tenant, archive.archivedSeq);

const ask = (...given: unknown[]) =>
  (database.pool.query as (...all: unknown[]) => Promise<{ rows: unknown[] }>)(...given);

/** How many ids of the archive the filter takes for new. */
function countMissed(filters: KnownFilters, archive: ArchivingTenant): number {
  const { ids } = archive;
  return ids.length - filters.suspects(archive.tenant, hashesOf(ids)).length;
}

describe('a filter', () => {
  it('has all archived ids once it is loaded, and few others', async () => {
    const archive = newTenant();
    for (let chunk = 0; chunk < 7; chunk += 1) await archive.archive(5_000);
    const filters = openFilters(MIB);
    expect(covers(filters, archive)).toBe(false);
    await load(filters, archive);
    expect(covers(filters, archive)).toBe(true);
    expect(countMissed(filters, archive)).toBe(0);
    const others = Float64Array.from({ length: 50_000 }, (_, at) => hashText(`new-${at}`));
    expect(filters.suspects(archive.tenant, others).length).toBeLessThan(500);
  });

  it('does not cover what is archived later, until that is loaded or added', async () => {
    const archive = await withIds(100);
    const filters = openFilters(MIB);
    await load(filters, archive);
    await archive.archive(100);
    expect(covers(filters, archive)).toBe(false);
    await load(filters, archive);
    expect([covers(filters, archive), countMissed(filters, archive)]).toEqual([true, 0]);
    const before = archive.archivedSeq;
    filters.add(archive.tenant, await archive.archive(5_000), before, archive.archivedSeq);
    expect([covers(filters, archive), countMissed(filters, archive)]).toEqual([true, 0]);
  });

  it('takes no ids after a gap', async () => {
    const archive = await withIds(100);
    const filters = openFilters(MIB);
    await load(filters, archive);
    await archive.archive(100);
    const before = archive.archivedSeq;
    filters.add(archive.tenant, await archive.archive(100), before, archive.archivedSeq);
    expect(covers(filters, archive)).toBe(false);
    await load(filters, archive);
    expect([covers(filters, archive), countMissed(filters, archive)]).toEqual([true, 0]);
  });

  it('that grew eightfold is loaded anew', async () => {
    const archive = await withIds(1_000);
    const filters = openFilters(8 * MIB);
    await load(filters, archive);
    let loads = 0;
    for (let chunk = 0; chunk < 20; chunk += 1) {
      const before = archive.archivedSeq;
      filters.add(archive.tenant, await archive.archive(1_000), before, archive.archivedSeq);
      if (!covers(filters, archive)) {
        loads += 1;
        await load(filters, archive);
      }
      expect([covers(filters, archive), countMissed(filters, archive)]).toEqual([true, 0]);
    }
    expect(loads).toBe(1);
    expect(filters.bytes).toBeLessThan(archive.ids.length * 4);
  });

  it('never takes an archived id for new, whatever is loaded, added, merged and evicted', async () => {
    const random = seeded(11);
    const filters = openFilters(60_000);
    const archives = Array.from({ length: 8 }, newTenant);
    const loads: Promise<void>[] = [];
    const seen = { covered: 0, not: 0 };
    for (let step = 0; step < 400; step += 1) {
      now += random() * 120_000;
      const archive = archives[Math.floor(random() * archives.length)]!;
      const before = archive.archivedSeq;
      const action = random();
      if (action < 0.25) {
        const hashes = await archive.archive(Math.floor(10 ** (3 * random())));
        if (random() < 0.5) filters.add(archive.tenant, hashes, before, archive.archivedSeq);
      } else if (action < 0.3) await mergeRuns(database.pool, archive.tenant);
      else if (action < 0.6) loads.push(load(filters, archive));
      else if (action < 0.8) await load(filters, archive);
      if (before > 0n && covers(filters, archive)) {
        seen.covered += 1;
        expect(countMissed(filters, archive)).toBe(0);
      } else seen.not += 1;
      expect(filters.bytes).toBeLessThanOrEqual(60_000);
    }
    await Promise.all(loads);
    expect(seen.covered).toBeGreaterThan(50);
    expect(seen.not).toBeGreaterThan(50);
  });

  it('is complete if runs are merged while it is loaded', async () => {
    const archive = newTenant();
    for (let chunk = 0; chunk < 4; chunk += 1) await archive.archive(13_000);
    const filters = openFilters(MIB);
    const wanted = archive.archivedSeq;
    const loading = load(filters, archive);
    await Promise.all([loading, mergeRuns(database.pool, archive.tenant), archive.archive(1_000)]);
    expect(filters.covers(archive.tenant, wanted)).toBe(true);
    const old = archive.ids.slice(0, 52_000);
    expect(filters.suspects(archive.tenant, hashesOf(old)).length).toBe(52_000);
  });

  it('is not loaded from damaged or lost pages, and tries again after a minute', async () => {
    const archive = await withIds(3_000);
    const filters = openFilters(MIB);
    const spoil = (change: string) =>
      spoilPages(database, `${change} where tenant_id = $1`, [archive.tenant]);
    await spoil('update known_id_pages set page = set_byte(page, 50, get_byte(page, 50) # 128)');
    await expect(load(filters, archive)).rejects.toThrow('its checksum differs');
    now = 59_000;
    await load(filters, archive);
    expect(covers(filters, archive)).toBe(false);
    await spoil('delete from known_id_pages');
    now = 60_000;
    await expect(load(filters, archive)).rejects.toThrow('it is lost');
    expect(covers(filters, archive)).toBe(false);
  });
});

describe('memory', () => {
  it('is bounded, and one tenant has half at most, which is told', async () => {
    const [large, small] = [await withIds(10_000), await withIds(1_000)];
    const told: bigint[] = [];
    const onNoPlace = (tenant: bigint) => void told.push(tenant);
    const filters = new KnownFilters({ bytesMax: 2 * 12_000, onNoPlace, now: () => now });
    await load(filters, large);
    await load(filters, large);
    expect(covers(filters, large)).toBe(false);
    expect(told).toEqual([large.tenant]);
    now = 61_000;
    await load(filters, large);
    await load(filters, await withIds(10_000), database.pool, false);
    expect(told).toEqual([large.tenant, large.tenant]);
    await load(new KnownFilters({ bytesMax: 0, onNoPlace }), large);
    expect(told).toHaveLength(2);
    await load(filters, small);
    expect(covers(filters, small)).toBe(true);
    expect(filters.bytes).toBeLessThan(10_000);
  });

  it('is given back when a filter outgrows the share', async () => {
    const archive = await withIds(1_000);
    const filters = openFilters(10_000);
    await load(filters, archive);
    const before = archive.archivedSeq;
    filters.add(archive.tenant, await archive.archive(5_000), before, archive.archivedSeq);
    expect(covers(filters, archive)).toBe(false);
    expect(filters.bytes).toBe(0);
  });

  it('stays with those who have it for ten minutes; then the one that was not used for longest goes', async () => {
    const archives = await Promise.all(Array.from({ length: 8 }, () => withIds(1_000)));
    // Room for five.
    const filters = openFilters(10_000);
    const loadAll = async () => {
      for (const archive of archives) await load(filters, archive);
      return archives.flatMap((archive, at) => (covers(filters, archive) ? [at] : []));
    };
    expect(await loadAll()).toEqual([0, 1, 2, 3, 4]);
    now = 599_000;
    expect(await loadAll()).toEqual([0, 1, 2, 3, 4]);
    now = 660_000;
    for (const used of [1, 3]) filters.suspects(archives[used]!.tenant, hashesOf(['a']));
    expect(await loadAll()).toEqual([1, 3, 5, 6, 7]);
    expect(filters.bytes).toBeLessThanOrEqual(10_000);
  });
});

describe('tenants that never paid', () => {
  const loadUnpaid = (filters: KnownFilters, archive: ArchivingTenant) =>
    load(filters, archive, database.pool, false);

  it('have a quarter of the memory together, and throw out none that paid', async () => {
    const [paid, ...unpaid] = await Promise.all(Array.from({ length: 9 }, () => withIds(1_000)));
    const filters = openFilters(40_000);
    await load(filters, paid!);
    const loadAll = async () => {
      for (const archive of unpaid) await loadUnpaid(filters, archive);
      return unpaid.filter((archive) => covers(filters, archive)).length;
    };
    expect(await loadAll()).toBe(5);
    now = 660_000;
    expect(await loadAll()).toBe(5);
    expect(covers(filters, paid!)).toBe(true);
    const atOnce = await withIds(2_000);
    await loadUnpaid(filters, atOnce);
    expect(covers(filters, atOnce)).toBe(false);
  });

  it('have as much as others once they have paid', async () => {
    const [first, second] = [await withIds(1_000), await withIds(1_000)];
    const filters = openFilters(4 * 8_000);
    const before = first.archivedSeq;
    await loadUnpaid(filters, first);
    await first.archive(1_000);
    expect(before).not.toBe(first.archivedSeq);
    await load(filters, first);
    expect(covers(filters, first)).toBe(true);
    for (const archive of [second, await withIds(1_000), await withIds(1_000), await withIds(1_000)]) {
      await loadUnpaid(filters, archive);
      expect(covers(filters, archive)).toBe(true);
    }
  });

  it('leave that quarter to the others at the first use of the filter after they have paid', async () => {
    const [paying, ...unpaid] = await Promise.all(Array.from({ length: 6 }, () => withIds(1_000)));
    const filters = openFilters(40_000);
    for (const archive of [paying!, ...unpaid.slice(0, 4)]) await loadUnpaid(filters, archive);
    const last = unpaid.at(-1)!;
    filters.suspects(paying!.tenant, hashesOf(['any']), false);
    await loadUnpaid(filters, last);
    expect(covers(filters, last)).toBe(false);
    now = 120_000;
    filters.suspects(paying!.tenant, hashesOf(['any']), true);
    await loadUnpaid(filters, last);
    expect(covers(filters, last)).toBe(true);
  });

  it('are loaded after those that paid', async () => {
    const archives = await Promise.all(Array.from({ length: 3 }, () => withIds(100)));
    const filters = openFilters(MIB);
    const done: number[] = [];
    await Promise.all(
      archives.map((archive, at) =>
        load(filters, archive, database.pool, at === 2).then(() => void done.push(at)),
      ),
    );
    expect(done).toEqual([2, 0, 1]);
  });
});

describe('loads', () => {
  it('run one statement at a time, and a small tenant does not wait for a large one', async () => {
    const large = newTenant();
    for (let chunk = 0; chunk < 10; chunk += 1) await large.archive(10_000);
    const small = await withIds(100);
    let underWay = 0;
    let most = 0;
    const query = async (...given: unknown[]) => {
      underWay += 1;
      most = Math.max(most, underWay);
      return ask(...given).finally(() => {
        underWay -= 1;
      });
    };
    const db = { query } as unknown as Db;
    const filters = openFilters(4 * MIB);
    const loading = load(filters, large, db);
    await load(filters, small, db);
    expect([covers(filters, small), covers(filters, large)]).toEqual([true, false]);
    await loading;
    expect(covers(filters, large)).toBe(true);
    expect(most).toBe(1);
  });

  it('of a tenant are one, for all who ask', async () => {
    const archive = await withIds(100);
    const filters = openFilters(MIB);
    expect(load(filters, archive)).toBe(load(filters, archive));
    await load(filters, archive);
  });

  it('that fail hold up no others', async () => {
    const [failing, other] = [await withIds(100), await withIds(100)];
    const filters = openFilters(MIB);
    const db = { query: async () => Promise.reject(new Error('away')) } as unknown as Db;
    const [failed] = await Promise.allSettled([load(filters, failing, db), load(filters, other)]);
    expect(failed).toMatchObject({ reason: { message: 'away' } });
    expect([covers(filters, failing), covers(filters, other)]).toEqual([false, true]);
  });

  it('leave turns of the event loop to others, one for each four pages', async () => {
    const archive = newTenant();
    for (let chunk = 0; chunk < 4; chunk += 1) await archive.archive(10_000);
    let isLoading = true;
    let turns = 0;
    const countTurns = () => {
      turns += 1;
      if (isLoading) setImmediate(countTurns);
    };
    countTurns();
    /** Turns between an answer and the next question. */
    let left = 0;
    let answeredAt = 0;
    let pages = 0;
    const filters = openFilters(4 * MIB);
    const query = async (...given: unknown[]) => {
      if (answeredAt > 0) left += turns - answeredAt;
      const answer = await ask(...given);
      answeredAt = turns;
      pages += answer.rows.length;
      return answer;
    };
    await load(filters, archive, { query } as unknown as Db);
    isLoading = false;
    expect(pages).toBeGreaterThan(120);
    expect(left).toBeGreaterThan(0.8 * (pages / 4));
  });
});
