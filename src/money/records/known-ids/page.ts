/**
 * Pages of known ids: some 300 entries in the order of their hashes, each a hash and the number of the chunk that has the record.
 *
 * A page has the hashes from the one in its key up to `end`, where the next page begins, so a page that is lost is noticed.
 *
 *     4 bytes   CRC-32 of the rest, begun with the key of the page
 *     6         end
 *     4         the smallest chunk
 *     1         bits of a chunk
 *     1         bytes of an entry
 *     each      (hash - the first hash) x 2^bits + (chunk - the smallest chunk)
 *
 * All numbers are little-endian. Entries have the same size and are in order, so a hash is found without reading all of them. The larger
 * a run, the more chunks it has and the smaller are the distances of its hashes: an entry has five bytes in nearly all of them.
 */
import { crc32 } from 'node:zlib';
import { renderTenantId, type TenantId } from '../../../base/tenants/tenant.ts';
import { HASH_END } from './id-hash.ts';

const HEAD_BYTES = 16;
/** What `readUIntLE()` reads. */
const ENTRY_BYTES_MAX = 6;
/** Five rows with pages of this size fill a block of PostgreSQL. */
const PAGE_BYTES_MAX = 1_576;

export interface PageRow {
  readonly run: number;
  readonly firstHash: bigint;
  readonly page: Buffer;
}

/** A page, or a run's lack of it, is not what was written. */
export class DamagedPageError extends Error {
  override readonly name = 'DamagedPageError';

  constructor(tenant: TenantId, run: number, hash: number, what: string) {
    super(`known ids of tenant ${renderTenantId(tenant)}, run ${run}, page at hash ${hash}: ${what}`);
  }
}

function checksumOf(tenant: TenantId, run: number, firstHash: number, page: Buffer): number {
  const key = Number(BigInt.asIntN(32, tenant)) ^ run ^ firstHash;
  return crc32(page.subarray(4), key >>> 0);
}

/** A page for reading. */
export class Page {
  readonly run: number;
  readonly first: number;
  /** The first hash after the page. */
  readonly end: number;
  readonly length: number;
  readonly #page: Buffer;
  readonly #width: number;
  readonly #smallest: number;
  /** How much further an entry is from the one whose hash is 1 smaller. */
  readonly #step: number;

  /** Fails with `DamagedPageError` unless the page is as it was made. */
  constructor(tenant: TenantId, { run, firstHash, page }: PageRow) {
    this.run = run;
    this.first = Number(firstHash);
    if (page.length < HEAD_BYTES || page.readUInt32LE() !== checksumOf(tenant, run, this.first, page))
      throw new DamagedPageError(tenant, run, this.first, 'its checksum differs');
    this.#page = page;
    this.end = page.readUIntLE(4, 6);
    this.#smallest = page.readUInt32LE(10);
    this.#step = 2 ** page[14]!;
    this.#width = page[15]!;
    this.length = (page.length - HEAD_BYTES) / this.#width;
  }

  hash(at: number): number {
    return this.first + Math.floor(this.#entry(at) / this.#step);
  }

  chunk(at: number): number {
    return this.#smallest + (this.#entry(at) % this.#step);
  }

  /** The place of the first entry with this hash or a larger one. */
  search(hash: number): number {
    const sought = (hash - this.first) * this.#step;
    let low = 0;
    let high = this.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#entry(middle) < sought) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #entry(at: number): number {
    return this.#page.readUIntLE(HEAD_BYTES + at * this.#width, this.#width);
  }
}

export interface MadePage {
  readonly firstHash: number;
  readonly page: Buffer;
}

/** Makes the pages of a run from its entries, which come in the order of their hashes, those of one hash in the order of their chunks. */
export class PageMaker {
  /** Those that are finished. The caller takes them out. */
  readonly pages: MadePage[] = [];
  /** Entries, without those that came twice. */
  count = 0;
  readonly #tenant: TenantId;
  readonly #run: number;
  /** The page that is being made. */
  #first = 0;
  readonly #hashes: number[] = [];
  readonly #chunks: number[] = [];
  #smallest = Number.POSITIVE_INFINITY;
  #largest = 0;
  /** Entries of one hash go into the same page. */
  #hash = 0;
  readonly #chunksOfHash: number[] = [];

  constructor(tenant: TenantId, run: number) {
    this.#tenant = tenant;
    this.#run = run;
  }

  add(hash: number, chunk: number): void {
    if (hash !== this.#hash) {
      this.#endHash();
      this.#hash = hash;
    }
    if (this.#chunksOfHash.at(-1) === chunk) return;
    this.#chunksOfHash.push(chunk);
    this.count += 1;
  }

  /** After the last entry. A run has at least one page. */
  end(): void {
    this.#endHash();
    this.#endPage(HASH_END);
  }

  #endHash(): void {
    const chunks = this.#chunksOfHash;
    if (chunks.length === 0) return;
    const smallest = Math.min(this.#smallest, chunks[0]!);
    const largest = Math.max(this.#largest, chunks.at(-1)!);
    const width = widthOf(this.#hash - this.#first, largest - smallest);
    const bytes = HEAD_BYTES + (this.#hashes.length + chunks.length) * width;
    // The first page of a run begins at 0, so it may be without entries.
    if (this.#first < this.#hash && (width > ENTRY_BYTES_MAX || bytes > PAGE_BYTES_MAX)) {
      this.#endPage(this.#hash);
      this.#smallest = chunks[0]!;
      this.#largest = chunks.at(-1)!;
    } else {
      this.#smallest = smallest;
      this.#largest = largest;
    }
    for (const chunk of chunks) {
      this.#hashes.push(this.#hash);
      this.#chunks.push(chunk);
    }
    chunks.length = 0;
  }

  /** `end`: where the next page begins. */
  #endPage(end: number): void {
    const hashes = this.#hashes;
    const first = this.#first;
    const range = Math.max(0, this.#largest - this.#smallest);
    const width = Math.max(1, widthOf((hashes.at(-1) ?? first) - first, range));
    const page = Buffer.alloc(HEAD_BYTES + hashes.length * width);
    page.writeUIntLE(end, 4, 6);
    page.writeUInt32LE(hashes.length > 0 ? this.#smallest : 0, 10);
    page[14] = bitsOf(range);
    page[15] = width;
    const step = 2 ** bitsOf(range);
    for (const [at, hash] of hashes.entries()) {
      const entry = (hash - first) * step + (this.#chunks[at]! - this.#smallest);
      page.writeUIntLE(entry, HEAD_BYTES + at * width, width);
    }
    page.writeUInt32LE(checksumOf(this.#tenant, this.#run, first, page));
    this.pages.push({ firstHash: first, page });
    this.#first = end;
    hashes.length = 0;
    this.#chunks.length = 0;
  }
}

/** Bytes of an entry. */
function widthOf(distance: number, chunks: number): number {
  return Math.ceil((bitsOf(distance) + bitsOf(chunks)) / 8);
}

function bitsOf(value: number): number {
  return value < 2 ** 32 ? 32 - Math.clz32(value) : 64 - Math.clz32(value / 2 ** 32);
}
