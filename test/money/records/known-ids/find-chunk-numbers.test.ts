import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { openPool } from '../../../../src/base/db/pool.ts';
import { inTransaction } from '../../../../src/base/db/transaction.ts';
import { findChunkNumbers } from '../../../../src/money/records/known-ids/find-chunk-numbers.ts';
import { hashText } from '../../../../src/money/records/known-ids/id-hash.ts';
import { insertRun } from '../../../../src/money/records/known-ids/insert-run.ts';
import { findPages } from '../../../../src/money/records/known-ids/known-ids.sql.ts';
import { mergeRuns } from '../../../../src/money/records/known-ids/merge-runs.ts';
import { useDatabase } from '../../../support/database.ts';
import { seeded } from '../../../support/seeded.ts';
import { ArchivingTenant, hashesOf, spoilPages } from './archive.ts';

const database = useDatabase();

/** The chunks that are found for each id, in order. */
async function findChunks({ tenant }: ArchivingTenant, ids: readonly string[]): Promise<number[][]> {
  const chunks = await findChunkNumbers(database.pool, tenant, hashesOf(ids));
  return ids.map((id) => [...(chunks.get(hashText(id)) ?? [])]);
}

const newIds = (count: number) => Array.from({ length: count }, (_, at) => `new-${at}`);

it('each archived id is found in its chunk, and new ones are not, whenever runs are merged', async () => {
  const random = seeded(5);
  const archive = new ArchivingTenant(database, 1n);
  for (let round = 0; round < 40; round += 1) {
    await archive.archive(Math.floor(10 ** (4 * random())));
    if (random() < 0.2) await mergeRuns(database.pool, archive.tenant);
    const asked = archive.ids.filter(() => random() < 0.05);
    expect(await findChunks(archive, asked)).toEqual(asked.map((id) => [archive.chunkOf.get(id)]));
  }
  expect(await findChunks(archive, archive.ids)).toEqual(archive.ids.map((id) => [archive.chunkOf.get(id)]));
  expect(await findChunkNumbers(database.pool, archive.tenant, hashesOf(newIds(20_000)))).toEqual(new Map());
});

it('an id that two chunks may have is found in both, and one that is asked for twice is found twice', async () => {
  const archive = new ArchivingTenant(database, 2n);
  await archive.archive(100);
  const archived = { hashes: hashesOf(['2-1-5', 'other']), chunk: 7, lastSeq: 70n };
  await inTransaction(database.pool, (tx) => insertRun(tx, archive.tenant, archived));
  const found = await findChunks(archive, ['2-1-5', 'other', 'unknown', '2-1-0', '2-1-0']);
  expect(found.map((chunks) => chunks.sort())).toEqual([[1, 7], [7], [], [1], [1]]);
});

it('ids with equal hashes cost no more than one of them', async () => {
  const archive = new ArchivingTenant(database, 19n);
  const hash = hashText('equal');
  for (let chunk = 1; chunk <= 40; chunk += 1) {
    const archived = { hashes: Float64Array.of(hash, chunk), chunk, lastSeq: BigInt(chunk) };
    await inTransaction(database.pool, (tx) => insertRun(tx, archive.tenant, archived));
  }
  // For each pair of an id and a chunk, this would take a minute.
  const found = await findChunkNumbers(database.pool, archive.tenant, new Float64Array(1_000_000).fill(hash));
  expect(found).toEqual(new Map([[hash, expect.anything()]]));
  expect(new Set(found.get(hash))).toEqual(new Set(Array.from({ length: 40 }, (_, at) => at + 1)));
});

it('without hashes, or without archived ids, nothing is found', async () => {
  const find = (tenant: bigint, ids: readonly string[]) =>
    findChunkNumbers(database.pool, new ArchivingTenant(database, tenant).tenant, hashesOf(ids));
  expect(await find(3n, ['a'])).toEqual(new Map());
  expect(await find(1n, [])).toEqual(new Map());
});

describe('a statement of a tenant with 300,000 ids', () => {
  const archive = new ArchivingTenant(database, 4n);
  beforeAll(async () => {
    for (let chunk = 0; chunk < 30; chunk += 1) await archive.archive(10_000);
    await mergeRuns(database.pool, archive.tenant);
  });

  const countPages = async (count: number, entriesMax: number) => {
    const rows = await findPages(database.pool, archive.tenant, [...hashesOf(newIds(count))], entriesMax);
    expect(new Set(rows.map(({ run, firstHash }) => `${run} ${firstHash}`)).size).toBe(rows.length);
    return rows.length;
  };

  it('returns the page of a hash in each run, each page once', async () => {
    const { rows } = await database.pool.query(
      'select count(distinct run)::integer as runs, count(*)::integer as pages from known_id_pages where tenant_id = $1',
      [archive.tenant],
    );
    const [{ runs, pages }] = rows;
    expect(runs).toBeLessThan(8);
    expect(await countPages(1, 0)).toBe(runs);
    expect(await countPages(5_000, 0)).toBeLessThanOrEqual(pages);
    expect(await countPages(1, 1_000_000)).toBe(pages);
  });

  it('takes at most 6.8 bytes of disk an id, with the index', async () => {
    const bytes = async () => {
      const { rows } = await database.pool.query<{ bytes: bigint }>(
        `select pg_total_relation_size('known_id_pages') as bytes`,
      );
      return Number(rows[0]!.bytes);
    };
    await spoilPages(database, 'delete from known_id_pages where tenant_id <> $1', [archive.tenant]);
    // While autovacuum reads the table, it keeps what was deleted.
    const vacuumed = () => database.pool.query('vacuum full known_id_pages').then(bytes);
    await expect.poll(async () => (await vacuumed()) / 300_000).toBeLessThan(6.8);
  });
});

it('reads few pages by a plan from when the tables were empty', async () => {
  const archive = new ArchivingTenant(database, 8n);
  const pool = openPool(database.url, { max: 1, plansByKey: true });
  onTestFinished(() => pool.end());
  await spoilPages(database, 'delete from known_id_pages');
  await database.pool.query('vacuum analyze known_id_pages');
  await findChunkNumbers(pool, archive.tenant, hashesOf(['a']));
  for (let chunk = 0; chunk < 9; chunk += 1) await archive.archive(10_000);
  const asked = archive.ids.slice(0, 50);
  const { found, rows } = await inTransaction(pool, async (tx) => ({
    found: await findChunkNumbers(tx, archive.tenant, hashesOf(asked)),
    ...(await tx.query<{ read: bigint }>(
      `select seq_tup_read + idx_tup_fetch as read from pg_stat_xact_user_tables where relname = 'known_id_pages'`,
    )),
  }));
  expect(found.size).toBe(50);
  // Three runs. Each page is found, and then read.
  expect(Number(rows[0]!.read)).toBeLessThanOrEqual(50 * 3 * 2);
});

describe('damage', () => {
  const archive = new ArchivingTenant(database, 9n);
  beforeAll(async () => {
    await archive.archive(3_000);
  });

  /** What is found while the pages are as `change` left them. */
  async function findWith(change: string, count = 3_000) {
    const { rows } = await database.pool.query('select * from known_id_pages where tenant_id = 9');
    await spoilPages(database, change);
    try {
      return await findChunks(archive, archive.ids.slice(0, count));
    } finally {
      await spoilPages(database, 'delete from known_id_pages where tenant_id = 9');
      for (const row of rows)
        await database.pool.query(
          'insert into known_id_pages (tenant_id, first_hash, run, page) values ($1, $2, $3, $4)',
          [row.tenant_id, row.first_hash, row.run, row.page],
        );
    }
  }

  it('of a page is an error that names it', async () => {
    await expect(
      findWith(`update known_id_pages set page = set_byte(page, 100, get_byte(page, 100) # 1)
                 where tenant_id = 9 and first_hash = 0`),
    ).rejects.toThrow('known ids of tenant t_0000000000000009, run 1, page at hash 0: its checksum differs');
  });

  it('is also a page that is lost', async () => {
    await expect(
      findWith('delete from known_id_pages where tenant_id = 9 and first_hash = 0'),
    ).rejects.toThrow('it is lost');
    await expect(
      findWith(`delete from known_id_pages where tenant_id = 9 and first_hash =
                  (select min(first_hash) from known_id_pages where tenant_id = 9 and first_hash > 0)`),
    ).rejects.toThrow('it is lost');
  });

  it('is also a run without pages', async () => {
    await expect(findWith('delete from known_id_pages where tenant_id = 9', 1)).rejects.toThrow('it is lost');
  });

  it('is not there otherwise', async () => {
    expect((await findWith('select 1')).flat().length).toBe(3_000);
  });
});
