/** Looks for hashes of ids among those of the archived records. */
import type { Db } from '../../../base/db/pool.ts';
import type { TenantId } from '../../../base/tenants/tenant.ts';
import { findPages } from './known-ids.sql.ts';
import { DamagedPageError, Page } from './page.ts';

/** A run with at most so many entries for each hash is read as a whole. They are those of a page. */
const ENTRIES_PER_HASH = 300;

/**
 * By hash, the numbers of the chunks that may have a record whose id has it. Nearly always one; a tenant may have made up ids with
 * equal hashes. Hashes that are in no chunk are left out.
 */
export type ChunkNumbers = ReadonlyMap<number, readonly number[]>;

/** Fails with `DamagedPageError` if a page is damaged or lost. */
export async function findChunkNumbers(
  db: Db,
  tenant: TenantId,
  hashes: Iterable<number>,
): Promise<ChunkNumbers> {
  const sorted = [...new Set(hashes)].sort((one, other) => one - other);
  const numbers = new Map<number, number[]>();
  if (sorted.length === 0) return numbers;
  const found = await findPages(db, tenant, sorted, ENTRIES_PER_HASH * sorted.length);
  for (const [run, rows] of Map.groupBy(found, (row) => row.run)) {
    const pages = rows
      .flatMap((row) => (row.page === null ? [] : [new Page(tenant, row)]))
      .sort((one, other) => one.first - other.first);
    let next = 0;
    let page: Page | undefined;
    for (const hash of sorted) {
      while (next < pages.length && pages[next]!.first <= hash) page = pages[next++];
      if (!page || hash >= page.end) throw new DamagedPageError(tenant, run, hash, 'it is lost');
      addChunks(numbers, page, hash);
    }
  }
  return numbers;
}

function addChunks(numbers: Map<number, number[]>, page: Page, hash: number): void {
  for (let entry = page.search(hash); entry < page.length && page.hash(entry) === hash; entry += 1) {
    const own = numbers.get(hash);
    if (own) own.push(page.chunk(entry));
    else numbers.set(hash, [page.chunk(entry)]);
  }
}
