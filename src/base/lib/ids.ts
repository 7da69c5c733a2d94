/** Random identifiers. Source: `node:crypto`, never `Math.random`. */
import { randomBytes } from 'node:crypto';

/** A call to the system costs far more than the bytes, so one call fetches them for many identifiers. */
const POOL_BYTES = 4096;
let pool = Buffer.alloc(0);
let used = 0;

/** `bytes` random bytes as lower-case hex; at most POOL_BYTES. For identifiers, not for secrets. */
export function randomHex(bytes: number): string {
  if (used + bytes > pool.length) {
    pool = randomBytes(POOL_BYTES);
    used = 0;
  }
  used += bytes;
  return pool.toString('hex', used - bytes, used);
}

/** An unguessable identifier: a prefix and 128 random bits, as in `co_<32 hex>`. */
export function newId(prefix: string): string {
  return `${prefix}_${randomHex(16)}`;
}

/** Whether the text has the form that `newId(prefix)` gives. */
export function isId(prefix: string, text: string): boolean {
  const [start, hex] = [text.slice(0, prefix.length + 1), text.slice(prefix.length + 1)];
  return start === `${prefix}_` && /^[0-9a-f]{32}$/.test(hex);
}
