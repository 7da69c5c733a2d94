/**
 * Signs with the private keys, which this process holds. A key management service would be another `Signer`.
 */
import { createPrivateKey, type KeyObject, sign } from 'node:crypto';
import type { Pool } from '../../base/db/pool.ts';
import type { SecretBox } from '../../base/lib/secret-box.ts';
import { findSealedKey } from './signing-keys.sql.ts';

export interface Signer {
  /** The ES256 signature of `bytes`, as r and s of 32 bytes each. Fails if there is no such key. */
  sign(kid: string, bytes: Buffer): Promise<Buffer>;
}

/**
 * Signs with the keys in the database. It caches only the last key it decrypted; the caller decides which key
 * signs.
 */
export class DatabaseSigner implements Signer {
  readonly #db: Pool;
  readonly #box: SecretBox;
  #opened: { readonly kid: string; readonly key: Promise<KeyObject> } | undefined;

  constructor(db: Pool, box: SecretBox) {
    this.#db = db;
    this.#box = box;
  }

  async sign(kid: string, bytes: Buffer): Promise<Buffer> {
    if (this.#opened?.kid !== kid) this.#opened = { kid, key: this.#open(kid) };
    const opened = this.#opened;
    try {
      return fixedSize(sign('sha256', bytes, await opened.key));
    } catch (error) {
      // Do not cache a failure: the next call reads the key again.
      if (this.#opened === opened) this.#opened = undefined;
      throw error;
    }
  }

  async #open(kid: string): Promise<KeyObject> {
    const sealed = await findSealedKey(this.#db, kid);
    if (!sealed) throw new Error(`there is no signing key ${kid}`);
    return createPrivateKey({ key: this.#box.open(sealed.privateKey, kid), format: 'der', type: 'pkcs8' });
  }
}

/**
 * r and s of 32 bytes each, from the two integers of a DER signature (RFC 3279, 2.2.3). Node converts too, but its
 * `dsaEncoding` makes a signature take twice as long.
 */
function fixedSize(der: Buffer): Buffer {
  const r = der.subarray(4, 4 + der[3]!);
  const s = der.subarray(6 + r.length);
  const fixed = Buffer.alloc(64);
  // An integer begins with a zero where it would be negative otherwise, and is shorter where it is small.
  for (const [integer, end] of [
    [r, 32],
    [s, 64],
  ] as const) {
    const digits = integer.subarray(Math.max(0, integer.length - 32));
    digits.copy(fixed, end - digits.length);
  }
  return fixed;
}
