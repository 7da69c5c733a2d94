/** Random identifiers. Source: `node:crypto`, never `Math.random`. */
import { randomBytes } from 'node:crypto';

/** `bytes` random bytes as lower-case hex. */
export function randomHex(bytes: number): string {
  return randomBytes(bytes).toString('hex');
}

/** An identifier that nobody can guess: a prefix and 128 random bits, as in `co_<32 hex>`. */
export function newId(prefix: string): string {
  return `${prefix}_${randomHex(16)}`;
}
