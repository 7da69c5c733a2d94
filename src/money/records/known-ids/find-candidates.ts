/** Looks for hashes of ids among those of the archived records. */
import type { Db } from '../../../base/db/pool.ts';
import type { TenantId } from '../../../base/tenants/tenant.ts';
import { findPages } from './known-ids.sql.ts';
import { DamagedPageError, Page } from './page.ts';

/** A run with at most so many entries for each hash is read as a whole. They are those of a page. */
const ENTRIES_PER_HASH = 300;

/** A chunk that may have the record of an id. It has another id with this hash if the archive was unlucky. */
export interface Candidate {
  /** The place of the id's hash in the list. */
  readonly at: number;
  readonly chunk: number;
}

/** In no order. Fails with `DamagedPageError` if a page is damaged or lost. */
export async function findCandidates(
  db: Db,
  tenant: TenantId,
  hashes: ArrayLike<number>,
): Promise<readonly Candidate[]> {
  if (hashes.length === 0) return [];
  const places = Array.from(hashes, (_, at) => at).sort((one, other) => hashes[one]! - hashes[other]!);
  const sorted = places.map((at) => hashes[at]!);
  const found = await findPages(db, tenant, sorted, ENTRIES_PER_HASH * sorted.length);
  const candidates: Candidate[] = [];
  for (const [run, rows] of Map.groupBy(found, (row) => row.run)) {
    const pages = rows
      .flatMap((row) => (row.page === null ? [] : [new Page(tenant, row)]))
      .sort((one, other) => one.first - other.first);
    let next = 0;
    let page: Page | undefined;
    for (const [index, hash] of sorted.entries()) {
      while (next < pages.length && pages[next]!.first <= hash) page = pages[next++];
      if (!page || hash >= page.end) throw new DamagedPageError(tenant, run, hash, 'it is lost');
      for (let entry = page.search(hash); entry < page.length && page.hash(entry) === hash; entry += 1)
        candidates.push({ at: places[index]!, chunk: page.chunk(entry) });
    }
  }
  return candidates;
}
