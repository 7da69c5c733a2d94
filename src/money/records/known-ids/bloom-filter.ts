/**
 * A blocked Bloom filter of hashes of ids: it says of a hash that it was certainly never added, or that it may have been.
 *
 * A hash sets and reads bits of one block only, which is as large as a line of the processor's cache. The filter grows by whole segments,
 * so growing reads nothing again. Source: Putze, Sanders, Singler, "Cache-, Hash- and Space-Efficient Bloom Filters".
 */
import { HASH_END } from './id-hash.ts';

const BLOCK_BITS = 512;
const BLOCK_WORDS = BLOCK_BITS / 32;
/** With seven bits set: 0.42 % of the hashes that were never added may have been, in a segment that is full. 10 would be 0.94 %. */
const BITS_PER_HASH = 12;
/** Odd numbers. Each sets one bit. Source: split block Bloom filters of Parquet. */
const SALTS = Int32Array.of(
  0x47b6137b,
  0x44974d91,
  0x8824ad5b,
  0xa2b7289d,
  0x705495c7,
  0x2df1424b,
  0x9efc4947,
);

interface Segment {
  readonly words: Int32Array;
  /** Blocks for each hash below `HASH_END`. */
  readonly scale: number;
}

/** The size of a segment for so many hashes. */
export function segmentBytes(hashes: number): number {
  return (Math.ceil((hashes * BITS_PER_HASH) / BLOCK_BITS) * BLOCK_BITS) / 8;
}

export class BloomFilter {
  bytes = 0;
  /** How many hashes were added. */
  count = 0;
  /** How many more can be added before it has to grow. */
  room = 0;
  readonly #segments: Segment[] = [];

  get segments(): number {
    return this.#segments.length;
  }

  /** Add a segment for so many hashes, at least one. What there was room for before is lost. */
  grow(hashes: number): void {
    const words = new Int32Array(segmentBytes(hashes) / 4);
    this.#segments.push({ words, scale: words.length / BLOCK_WORDS / HASH_END });
    this.bytes += words.byteLength;
    this.room = hashes;
  }

  /** Needs room. A hash that may have been added already takes none. */
  add(hash: number): void {
    if (this.mayHave(hash)) return;
    const { words, scale } = this.#segments.at(-1)!;
    const block = Math.floor(hash * scale) * BLOCK_WORDS;
    for (let at = 0; at < SALTS.length; at += 1) {
      const bit = Math.imul(hash, SALTS[at]!) >>> 23;
      words[block + (bit >>> 5)]! |= 1 << bit;
    }
    this.count += 1;
    this.room -= 1;
  }

  mayHave(hash: number): boolean {
    for (const { words, scale } of this.#segments) if (hasBits(words, scale, hash)) return true;
    return false;
  }
}

function hasBits(words: Int32Array, scale: number, hash: number): boolean {
  const block = Math.floor(hash * scale) * BLOCK_WORDS;
  for (let at = 0; at < SALTS.length; at += 1) {
    const bit = Math.imul(hash, SALTS[at]!) >>> 23;
    if ((words[block + (bit >>> 5)]! & (1 << bit)) === 0) return false;
  }
  return true;
}
