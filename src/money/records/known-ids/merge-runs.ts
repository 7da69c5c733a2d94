/** Merges sorted runs of known ids into one, in a transaction and in constant memory. */
import type { Pool, Tx } from '../../../base/db/pool.ts';
import { inTransaction } from '../../../base/db/transaction.ts';
import type { TenantId } from '../../../base/tenants/tenant.ts';
import { chooseRuns } from './choose-runs.ts';
import { HASH_END } from './id-hash.ts';
import {
  deleteRuns,
  insertPages,
  insertRunRow,
  listRuns,
  lockMerges,
  type Run,
  readPages,
} from './known-ids.sql.ts';
import { DamagedPageError, Page, PageMaker } from './page.ts';

/** Pages that are read or written at once. */
const PAGES_READ = 16;
const PAGES_WRITTEN = 64;

/** Entries in the order of their hashes, a part at a time. */
export interface Source {
  hashes: ArrayLike<number>;
  chunks: ArrayLike<number>;
  /** The place of the next entry. */
  at: number;
  /** Puts the next part in place of one that is used up. Returns false at the end. */
  next(): Promise<boolean>;
}

/**
 * Merge runs of the tenant while some are due, each time in a transaction of its own. It takes no lock that charging takes, and
 * `insertRun()` may write runs meanwhile. Another process that merges runs of the tenant is left to do so.
 */
export async function mergeRuns(db: Pool, tenant: TenantId): Promise<void> {
  while (await inTransaction(db, (tx) => mergeOnce(tx, tenant)));
}

/** Returns whether runs were merged. */
async function mergeOnce(tx: Tx, tenant: TenantId): Promise<boolean> {
  if (!(await lockMerges(tx, tenant))) return false;
  const runs = await listRuns(tx, tenant);
  const chosen = runs.slice(0, chooseRuns(runs.map(({ entries }) => entries)));
  if (chosen.length === 0) return false;
  const run = Math.min(0, ...runs.map((each) => each.run)) - 1;
  await mergeInto(tx, tenant, run, chosen);
  return true;
}

/** Write a new run with the entries of others, which are deleted, and `further` ones, the newest of which has `lastSeq`. */
export async function mergeInto(
  tx: Tx,
  tenant: TenantId,
  run: number,
  merged: readonly Run[],
  further: readonly Source[] = [],
  lastSeq = 0n,
): Promise<void> {
  const sources = [...merged.map((each) => new RunSource(tx, tenant, each.run)), ...further];
  const maker = new PageMaker(tenant, run);
  await merge(sources, maker, (pages) => insertPages(tx, tenant, run, pages));
  const newest = merged.reduce((seq, each) => (each.lastSeq > seq ? each.lastSeq : seq), lastSeq);
  await insertRunRow(tx, tenant, { run, entries: maker.count, lastSeq: newest });
  await deleteRuns(
    tx,
    tenant,
    merged.map((each) => each.run),
  );
}

async function merge(
  all: readonly Source[],
  maker: PageMaker,
  write: (pages: PageMaker['pages']) => Promise<void>,
): Promise<void> {
  let sources = all;
  for (;;) {
    const left: Source[] = [];
    for (const source of sources)
      if (source.at < source.hashes.length || (await source.next())) left.push(source);
    if (left.length === 0) break;
    sources = left;
    takeEntries(sources, maker);
    if (maker.pages.length >= PAGES_WRITTEN) await write(maker.pages.splice(0));
  }
  maker.end();
  await write(maker.pages);
}

/** Until a part of one of the sources is used up. */
function takeEntries(sources: readonly Source[], maker: PageMaker): void {
  for (;;) {
    let least = sources[0]!;
    for (const source of sources) if (isBefore(source, least)) least = source;
    maker.add(least.hashes[least.at]!, least.chunks[least.at]!);
    least.at += 1;
    if (least.at === least.hashes.length) return;
  }
}

function isBefore(one: Source, other: Source): boolean {
  const difference = one.hashes[one.at]! - other.hashes[other.at]!;
  return difference < 0 || (difference === 0 && one.chunks[one.at]! < other.chunks[other.at]!);
}

/** Reads a run. Fails with `DamagedPageError` if a page is damaged or lost. */
class RunSource implements Source {
  hashes: number[] = [];
  chunks: number[] = [];
  at = 0;
  readonly #tx: Tx;
  readonly #tenant: TenantId;
  readonly #run: number;
  /** The first hash of the last page, and where the next one begins. */
  #last = -1;
  #end = 0;

  constructor(tx: Tx, tenant: TenantId, run: number) {
    this.#tx = tx;
    this.#tenant = tenant;
    this.#run = run;
  }

  async next(): Promise<boolean> {
    this.at = 0;
    this.hashes = [];
    this.chunks = [];
    while (this.hashes.length === 0 && this.#end < HASH_END) {
      const rows = await readPages(this.#tx, this.#tenant, this.#run, this.#last, PAGES_READ);
      if (rows.length === 0) this.#refuse();
      for (const row of rows) this.#add(new Page(this.#tenant, row));
    }
    return this.hashes.length > 0;
  }

  #add(page: Page): void {
    if (page.first !== this.#end) this.#refuse();
    this.#last = page.first;
    this.#end = page.end;
    for (let at = 0; at < page.length; at += 1) {
      this.hashes.push(page.hash(at));
      this.chunks.push(page.chunk(at));
    }
  }

  #refuse(): never {
    throw new DamagedPageError(this.#tenant, this.#run, this.#end, 'it is lost');
  }
}
