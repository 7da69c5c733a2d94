/**
 * Filters of the ids of archived records, in the memory of a process: of most new ids they say, without a question to the database, that
 * they are certainly not archived.
 *
 * A filter is loaded in the background, and again when the archive has grown. All processes may have filters of a tenant: each says up to
 * which posting it has the archived ids, and the caller compares that with the locked account.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Db } from '../../../base/db/pool.ts';
import type { TenantId } from '../../../base/tenants/tenant.ts';
import { BloomFilter, segmentBytes } from './bloom-filter.ts';
import { HASH_END } from './id-hash.ts';
import { type FoundPage, listRuns, readNewPages } from './known-ids.sql.ts';
import { DamagedPageError, Page } from './page.ts';

/** One tenant has at most this part of the memory. The ids of a larger one are looked up in pages. */
const TENANT_SHARE = 1 / 2;
/** For all that never paid together, because anyone can sign up a thousand of them; and for one of them. */
const NEVER_PAID_SHARE = 1 / 4;
const TENANT_SHARE_NEVER_PAID = 1 / 16;
/** A filter stays for so long, so that tenants do not throw out each other's as soon as they are loaded. */
const STAY_MS = 600_000;
/** How long after a load that failed, or had no place, it is tried again. */
const RETRY_MS = 60_000;
const REFUSED_MAX = 100_000;
/** So many filters are looked at to find some that may go, so that looking costs little where none may. */
const LOOKED_AT = 1_000;
/** How much larger a filter is made than what it is loaded with. */
const SPARE = 1.25;
/** Each costs a check, and is wrong for itself. A filter that grew eightfold is loaded anew, into one. */
const SEGMENTS_MAX = 4;
/** A filter with fewer would take less than its entry in the map. */
const HASHES_MIN = 1_000;
/** Read in one statement, besides one for each run. */
const PAGES_READ = 32;
/** Added between two turns of the event loop: about 1,200 ids. */
const PAGES_ADDED = 4;

interface Known {
  readonly filter: BloomFilter;
  readonly loadedAt: number;
  hasPaid: boolean;
  /** It has all ids that were archived up to this posting; 0 while it is loaded for the first time. */
  seq: bigint;
}

interface Load {
  readonly db: Db;
  readonly tenant: TenantId;
  readonly seq: bigint;
  readonly hasPaid: boolean;
  readonly done: PromiseWithResolvers<void>;
  /** From this hash on, pages have to be read; `undefined` before it begins. */
  from?: number;
  known?: Known;
}

export interface KnownFiltersOptions {
  readonly bytesMax: number;
  /** Told of a tenant that paid, at most once a minute, if its filter has no place where there are any: its charges look up each id. */
  readonly onNoPlace?: (tenant: TenantId) => void;
  /** A clock, in milliseconds. */
  readonly now?: () => number;
}

export class KnownFilters {
  readonly #bytesMax: number;
  readonly #onNoPlace: (tenant: TenantId) => void;
  readonly #now: () => number;
  /** The first was not used for longest. */
  readonly #known = new Map<TenantId, Known>();
  #bytes = 0;
  /** Those of tenants that never paid. */
  #bytesNeverPaid = 0;
  /** The first is next. */
  readonly #loads = new Map<TenantId, Load>();
  /** Which are not loaded, until when. */
  readonly #refused = new Map<TenantId, number>();

  constructor({ bytesMax, onNoPlace = () => {}, now = () => performance.now() }: KnownFiltersOptions) {
    this.#bytesMax = bytesMax;
    this.#onNoPlace = onNoPlace;
    this.#now = now;
  }

  /** All filters take so much. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Whether the tenant's filter has all ids that were archived up to this posting. */
  covers(tenant: TenantId, archivedSeq: bigint): boolean {
    return (this.#known.get(tenant)?.seq ?? -1n) >= archivedSeq;
  }

  /** The hashes whose ids may be archived. Of the others, `covers()` makes it certain that they are not. */
  suspects(tenant: TenantId, hashes: Float64Array, hasPaid = true): number[] {
    const known = this.#known.get(tenant)!;
    if (hasPaid) this.#notePaid(known);
    this.#known.delete(tenant);
    this.#known.set(tenant, known);
    const suspects: number[] = [];
    for (const hash of hashes) if (known.filter.mayHave(hash)) suspects.push(hash);
    return suspects;
  }

  /** Add the ids that this process has archived, after the commit: those of the postings after `fromSeq` up to `toSeq`. */
  add(tenant: TenantId, hashes: Float64Array, fromSeq: bigint, toSeq: bigint): void {
    if (!this.covers(tenant, fromSeq)) return;
    const known = this.#known.get(tenant)!;
    if (!this.#makeRoom(tenant, known, hashes.length)) return;
    for (const hash of hashes) known.filter.add(hash);
    if (toSeq > known.seq) known.seq = toSeq;
  }

  /**
   * Load what the tenant's filter lacks, up to this posting, as soon as it is its turn. Resolves when that is done, or if the filter has
   * no place. Tenants that paid come first.
   */
  load(db: Db, tenant: TenantId, archivedSeq: bigint, hasPaid = true): Promise<void> {
    const queued = this.#loads.get(tenant);
    if (queued) return queued.done.promise;
    if (this.covers(tenant, archivedSeq) || (this.#refused.get(tenant) ?? 0) > this.#now())
      return Promise.resolve();
    const load: Load = { db, tenant, seq: archivedSeq, hasPaid, done: Promise.withResolvers() };
    this.#loads.set(tenant, load);
    if (this.#loads.size === 1) void this.#loadAll();
    return load.done.promise;
  }

  /** Tenants take turns, a piece each, so that a large one delays the others little. */
  async #loadAll(): Promise<void> {
    for (let load = this.#firstLoad(); load; load = this.#firstLoad()) {
      let isDone = true;
      try {
        isDone = load.from === undefined ? await this.#begin(load) : await this.#readPiece(load);
        if (isDone) load.done.resolve();
      } catch (error) {
        this.#refuse(load.tenant);
        load.done.reject(error);
      }
      this.#loads.delete(load.tenant);
      if (!isDone) this.#loads.set(load.tenant, load);
    }
  }

  #firstLoad(): Load | undefined {
    for (const load of this.#loads.values()) if (load.hasPaid) return load;
    return this.#loads.values().next().value;
  }

  /** Returns whether that was all. */
  async #begin(load: Load): Promise<boolean> {
    const { tenant, hasPaid } = load;
    const runs = await listRuns(load.db, tenant);
    let known = this.#known.get(tenant);
    if (!known) {
      const all = runs.reduce((sum, { entries }) => sum + entries, 0);
      known = { filter: new BloomFilter(), loadedAt: this.#now(), hasPaid, seq: 0n };
      this.#known.set(tenant, known);
      if (!this.#makeRoom(tenant, known, Math.ceil(all * SPARE))) return true;
    }
    if (hasPaid) this.#notePaid(known);
    load.known = known;
    load.from = 0;
    return false;
  }

  /** The filter was perhaps made before its tenant paid. */
  #notePaid(known: Known): void {
    if (known.hasPaid) return;
    known.hasPaid = true;
    this.#bytesNeverPaid -= known.filter.bytes;
  }

  async #readPiece(load: Load): Promise<boolean> {
    const known = load.known!;
    const rows = await readNewPages(load.db, load.tenant, known.seq, load.from!, PAGES_READ);
    const ends = new Map<number, number>();
    for (let at = 0; at < rows.length; at += PAGES_ADDED) {
      if (this.#known.get(load.tenant) !== known) return true;
      const added = rows.slice(at, at + PAGES_ADDED);
      if (!this.#addPages(load, known, added, ends)) return true;
      await nextTurn();
    }
    // Each run was read up to the end of its last page. Runs may have been merged meanwhile: the ids are the same.
    load.from = Math.min(...ends.values());
    if (load.from < HASH_END) return false;
    if (load.seq > known.seq) known.seq = load.seq;
    return true;
  }

  /** Notes where the pages of each run end. Returns false if the filter has no place. */
  #addPages(
    { tenant, from }: Load,
    known: Known,
    rows: readonly FoundPage[],
    ends: Map<number, number>,
  ): boolean {
    for (const row of rows) {
      const end = ends.get(row.run) ?? from!;
      const page = row.page && new Page(tenant, row);
      if (!page || page.first > end) throw new DamagedPageError(tenant, row.run, end, 'it is lost');
      if (!this.#makeRoom(tenant, known, page.length)) return false;
      for (let at = 0; at < page.length; at += 1) known.filter.add(page.hash(at));
      ends.set(page.run, page.end);
    }
    return true;
  }

  /** Make room for so many hashes. If there is no place for them, the filter goes. */
  #makeRoom(tenant: TenantId, known: Known, hashes: number): boolean {
    const { filter } = known;
    if (filter.room >= hashes) return true;
    if (filter.segments === SEGMENTS_MAX) {
      this.#remove(tenant, known);
      return false;
    }
    // Each segment is as large as all before it, so there are few.
    const wanted = Math.max(hashes, filter.count, HASHES_MIN);
    const bytes = segmentBytes(wanted);
    const share = known.hasPaid ? TENANT_SHARE : TENANT_SHARE_NEVER_PAID;
    if (filter.bytes + bytes <= this.#bytesMax * share && this.#evictFor(bytes, known)) {
      filter.grow(wanted);
      this.#count(bytes, known);
      return true;
    }
    this.#remove(tenant, known);
    this.#refuse(tenant);
    if (known.hasPaid && this.#bytesMax > 0) this.#onNoPlace(tenant);
    return false;
  }

  /** Those that were not used for longest go first. Returns false if there is still no place. */
  #evictFor(bytes: number, growing: Known): boolean {
    const before = this.#now() - STAY_MS;
    let looked = 0;
    for (const [tenant, known] of this.#known) {
      looked += 1;
      if (this.#hasRoom(bytes, growing) || looked > LOOKED_AT) break;
      const mayGo = growing.hasPaid || !known.hasPaid;
      if (known !== growing && mayGo && known.loadedAt <= before) this.#remove(tenant, known);
    }
    return this.#hasRoom(bytes, growing);
  }

  #hasRoom(bytes: number, { hasPaid }: Known): boolean {
    const ofNeverPaid = hasPaid ? 0 : this.#bytesNeverPaid + bytes;
    return this.#bytes + bytes <= this.#bytesMax && ofNeverPaid <= this.#bytesMax * NEVER_PAID_SHARE;
  }

  #remove(tenant: TenantId, known: Known): void {
    this.#known.delete(tenant);
    this.#count(-known.filter.bytes, known);
  }

  #count(bytes: number, { hasPaid }: Known): void {
    this.#bytes += bytes;
    if (!hasPaid) this.#bytesNeverPaid += bytes;
  }

  #refuse(tenant: TenantId): void {
    if (this.#refused.size >= REFUSED_MAX) this.#refused.clear();
    this.#refused.set(tenant, this.#now() + RETRY_MS);
  }
}
