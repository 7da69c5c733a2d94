/**
 * The 44-bit hash of a usage record's id, by which the ids of archived records are known.
 *
 * Hashes are stored for ever, so the function must never change: `id-hash.test.ts` has vectors. It is not cryptographic: a tenant can
 * make up ids with equal hashes. Each of them then leads to all of its chunks that have such an id, so nothing may be worked out for each
 * pair of an id and a chunk, and a tenant that repeats them waits for its turn to read chunks.
 */

/** Hashes are whole numbers from 0 up to this, which is excluded. */
export const HASH_END = 2 ** 44;

const FACTOR_A = 0x85ebca6b;
const FACTOR_B = 0xc2b2ae35;

/** The hash of the UTF-8 bytes from `start` up to `end`. */
export function hashId(bytes: Uint8Array, start: number, end: number): number {
  let a = 0x9e3779b9 ^ (end - start);
  let b = 0x7f4a7c15 ^ (end - start);
  let at = start;
  for (; at + 4 <= end; at += 4) {
    const word = bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24);
    a = Math.imul(a ^ word, FACTOR_A);
    a ^= a >>> 15;
    b = Math.imul(b ^ word, FACTOR_B);
    b ^= b >>> 13;
  }
  let rest = 0;
  for (let shift = 0; at < end; at += 1, shift += 8) rest |= bytes[at]! << shift;
  a = Math.imul(a ^ rest, FACTOR_A);
  b = Math.imul(b ^ rest, FACTOR_B);
  // Each bit of the result depends on both.
  a = Math.imul(a ^ (a >>> 16), FACTOR_B) ^ Math.imul(b ^ (b >>> 13), FACTOR_A);
  b = Math.imul(b ^ (b >>> 16), FACTOR_B) ^ Math.imul(a ^ (a >>> 13), FACTOR_A);
  return ((a ^ (b >>> 16)) >>> 0) * 2 ** 12 + (b >>> 20);
}

export function hashText(id: string): number {
  const bytes = Buffer.from(id);
  return hashId(bytes, 0, bytes.length);
}

/** Ids that lie in a buffer, as those of `UsageRecords` do. Column 0 has the id. */
export interface Ids {
  readonly length: number;
  readonly bytes: Uint8Array;
  textStart(row: number, column: 0): number;
  textEnd(row: number, column: 0): number;
}

/** By row. */
export function hashIds(ids: Ids): Float64Array {
  const hashes = new Float64Array(ids.length);
  for (let row = 0; row < hashes.length; row += 1)
    hashes[row] = hashId(ids.bytes, ids.textStart(row, 0), ids.textEnd(row, 0));
  return hashes;
}
