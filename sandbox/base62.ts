/** Names in the alphabet of Stripe's identifiers. */
import { createHash } from 'node:crypto';

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** One character for each of the first `length` bytes. */
export function base62(bytes: Uint8Array, length: number): string {
  return Array.from(bytes.subarray(0, length), (byte) => ALPHABET[byte % ALPHABET.length]).join('');
}

/** A stable pseudo-random name for `text`, for example the fingerprint of a card number. */
export function stableName(text: string, length: number): string {
  return base62(createHash('sha512').update(text).digest(), length);
}
