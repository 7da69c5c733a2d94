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
      return sign('sha256', bytes, { key: await opened.key, dsaEncoding: 'ieee-p1363' });
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
