/**
 * The device's key: an ECDSA key on P-256, whose private half cannot leave WebCrypto.
 *
 * Tokens are bound to it, so a copied token is useless without it. A browser keeps it in IndexedDB,
 * which stores the key handle, not the secret.
 */
import { sha256 } from './base64url.ts';

const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256' };

/** The public half, in the format of `POST /join`. */
export interface PublicJwk {
  /** An elliptic curve. */
  readonly kty: 'EC';
  /** Its name. */
  readonly crv: 'P-256';
  /** A coordinate of the point, in base64url. */
  readonly x: string;
  /** The other one. */
  readonly y: string;
}

/** Storage for a device's key. */
export interface KeyStore {
  /** Keep `candidate` unless there is a key already. Return the key that is kept. */
  keep(candidate: CryptoKeyPair): Promise<CryptoKeyPair>;
}

/** A key that cannot be exported. */
export async function generateDeviceKey(): Promise<CryptoKeyPair> {
  return await crypto.subtle.generateKey(ALGORITHM, false, ['sign', 'verify']);
}

export async function publicJwkOf(key: CryptoKeyPair): Promise<PublicJwk> {
  const { kty, crv, x, y } = await crypto.subtle.exportKey('jwk', key.publicKey);
  if (kty !== 'EC' || crv !== 'P-256' || !x || !y)
    throw new TypeError('a device key is a key on the curve P-256');
  return { kty, crv, x, y };
}

/** RFC 7638: SHA-256 of the required members in the order of their names. */
export async function thumbprintOf({ crv, kty, x, y }: PublicJwk): Promise<string> {
  return await sha256(JSON.stringify({ crv, kty, x, y }));
}
