import { describe, expect, it } from 'vitest';
import { transactOnce } from '../../../../src/base/db/transaction.ts';
import { findChunkNumbers } from '../../../../src/money/records/known-ids/find-chunk-numbers.ts';
import { hashText } from '../../../../src/money/records/known-ids/id-hash.ts';
import { insertRun } from '../../../../src/money/records/known-ids/insert-run.ts';
import { listRuns, lockMerges } from '../../../../src/money/records/known-ids/known-ids.sql.ts';
import { mergeRuns } from '../../../../src/money/records/known-ids/merge-runs.ts';
import { useDatabase } from '../../../support/database.ts';
import { openHolder } from '../../../support/holder.ts';
import { countLockWaiters } from '../../../support/lock-waiters.ts';
import { ArchivingTenant, hashesOf, spoilPages } from './archive.ts';

const database = useDatabase();

const runsOf = async ({ tenant }: ArchivingTenant) => listRuns(database.pool, tenant);
const sizesOf = async (archive: ArchivingTenant) => (await runsOf(archive)).map(({ entries }) => entries);

/** Each id of the tenant is found in its chunk, and nothing else is. */
async function expectFound(archive: ArchivingTenant): Promise<void> {
  const { ids } = archive;
  const found = await findChunkNumbers(database.pool, archive.tenant, hashesOf(ids));
  expect(found).toEqual(new Map(ids.map((id) => [hashText(id), [archive.chunkOf.get(id)]])));
}

let tenants = 0n;
function newTenant(): ArchivingTenant {
  tenants += 1n;
  return new ArchivingTenant(database, tenants);
}

/** A tenant with four runs that are too large to be merged at once. */
async function withDueMerge(): Promise<ArchivingTenant> {
  const archive = newTenant();
  for (let chunk = 0; chunk < 4; chunk += 1) {
    expect(archive.isMergeDue).toBe(false);
    await archive.archive(13_000);
  }
  expect(archive.isMergeDue).toBe(true);
  expect(await sizesOf(archive)).toEqual([13_000, 13_000, 13_000, 13_000]);
  return archive;
}

describe('runs', () => {
  it('that are small are merged with the new one, in its transaction', async () => {
    const archive = newTenant();
    for (let chunk = 0; chunk < 16; chunk += 1) await archive.archive(100);
    expect(await sizesOf(archive)).toEqual([1_600]);
    expect((await runsOf(archive))[0]!.lastSeq).toBe(16n);
    expect(archive.isMergeDue).toBe(false);
    await expectFound(archive);
  });

  it('that are large are merged by the job', async () => {
    const archive = await withDueMerge();
    await mergeRuns(database.pool, archive.tenant);
    expect(await runsOf(archive)).toEqual([{ run: -1, entries: 52_000, lastSeq: 4n }]);
    await expectFound(archive);
    await mergeRuns(database.pool, archive.tenant);
    expect(await runsOf(archive)).toEqual([{ run: -1, entries: 52_000, lastSeq: 4n }]);
  });

  it('of other tenants stay as they are', async () => {
    const [one, other] = [await withDueMerge(), await withDueMerge()];
    await mergeRuns(database.pool, one.tenant);
    expect(await sizesOf(other)).toEqual([13_000, 13_000, 13_000, 13_000]);
    await expectFound(other);
  });

  it('are few after 36 months', async () => {
    const archive = newTenant();
    for (let month = 0; month < 36; month += 1) {
      await archive.archive(10_000);
      if (archive.isMergeDue) await mergeRuns(database.pool, archive.tenant);
    }
    expect(await sizesOf(archive)).toEqual([40_000, 160_000, 160_000]);
    await expectFound(archive);
  });
});

/** Resolves when the merge waits for a row. */
async function isWaiting(): Promise<void> {
  await expect.poll(() => countLockWaiters(database.pool)).toBe(1);
}

async function killMerge(): Promise<void> {
  await database.pool.query(
    `select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and state = 'active' and query like 'delete from known_id_pages%'`,
  );
}

describe('a merge', () => {
  it('runs once when it is started twice at once, in whatever order', async () => {
    const archive = await withDueMerge();
    await Promise.all([1, 2, 3].map(() => mergeRuns(database.pool, archive.tenant)));
    expect(await sizesOf(archive)).toEqual([52_000]);
    await expectFound(archive);
  });

  it('is left to another that is under way, without waiting', async () => {
    const archive = await withDueMerge();
    const holder = await openHolder(database.pool);
    expect(await lockMerges(holder, archive.tenant)).toBe(true);
    await mergeRuns(database.pool, archive.tenant);
    await archive.archive(100);
    for (let chunk = 0; chunk < 5; chunk += 1) await archive.archive(100);
    expect(await sizesOf(archive)).toEqual([100, 100, 100, 100, 100, 100, 13_000, 13_000, 13_000, 13_000]);
    expect(archive.isMergeDue).toBe(true);
    await expectFound(archive);
    await holder.release();
    await mergeRuns(database.pool, archive.tenant);
    expect(await sizesOf(archive)).toEqual([52_600]);
    await expectFound(archive);
  });

  it('misses no run that is inserted meanwhile, and readers find all ids at any time', async () => {
    const archive = await withDueMerge();
    // The merge waits for this row after it has written its pages.
    const holder = await openHolder(database.pool);
    await holder.query('select from known_id_pages where tenant_id = $1 for update', [archive.tenant]);
    let isMerging = true;
    const merging = mergeRuns(database.pool, archive.tenant).finally(() => {
      isMerging = false;
    });
    await isWaiting();
    for (let round = 0; isMerging; round += 1) {
      await Promise.all([archive.archive(500), expectFound(archive)]);
      if (round === 1) await holder.release();
    }
    await merging;
    await expectFound(archive);
    await mergeRuns(database.pool, archive.tenant);
    await expectFound(archive);
  });

  it('that is killed halfway leaves the runs as they were', async () => {
    const archive = await withDueMerge();
    const before = await runsOf(archive);
    // Another transaction has a row that the merge deletes, so that it is killed after it has written its pages.
    const holder = await openHolder(database.pool);
    await holder.query('select from known_id_pages where tenant_id = $1 for update', [archive.tenant]);
    const merging = expect(mergeRuns(database.pool, archive.tenant)).rejects.toThrow();
    await isWaiting();
    await killMerge();
    await merging;
    await holder.release();
    expect(await runsOf(archive)).toEqual(before);
    await expectFound(archive);
    await mergeRuns(database.pool, archive.tenant);
    expect(await sizesOf(archive)).toEqual([52_000]);
    await expectFound(archive);
  });

  it('refuses damaged and lost pages, and changes nothing', async () => {
    const archive = await withDueMerge();
    const before = await runsOf(archive);
    const change = (sql: string) =>
      spoilPages(
        database,
        `${sql} where tenant_id = $1 and run = 2
       and first_hash = (select first_hash from known_id_pages where tenant_id = $1 and run = 2
                          order by first_hash offset 20 limit 1)`,
        [archive.tenant],
      );
    await change('update known_id_pages set page = set_byte(page, 50, get_byte(page, 50) # 128)');
    await expect(mergeRuns(database.pool, archive.tenant)).rejects.toThrow(/run 2, .*: its checksum differs/);
    await change('delete from known_id_pages');
    await expect(mergeRuns(database.pool, archive.tenant)).rejects.toThrow(/run 2, .*: it is lost/);
    await spoilPages(database, 'delete from known_id_pages where tenant_id = $1 and run = 3', [
      archive.tenant,
    ]);
    expect(await runsOf(archive)).toEqual(before);
  });
});

it('an insert that is rolled back leaves nothing', async () => {
  const archive = newTenant();
  for (let chunk = 0; chunk < 3; chunk += 1) await archive.archive(100);
  const before = await runsOf(archive);
  await expect(
    transactOnce(database.pool, async (tx) => {
      await insertRun(tx, archive.tenant, { hashes: hashesOf(['a']), chunk: 4, lastSeq: 4n });
      throw new Error('enough');
    }),
  ).rejects.toThrow('enough');
  expect(await runsOf(archive)).toEqual(before);
  await expectFound(archive);
});
