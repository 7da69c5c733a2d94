/**
 * Secrets at rest: AES-256-GCM with a key that the database never sees.
 *
 * A sealed secret is nonce (12 bytes), ciphertext and tag (16 bytes). It opens only with the context
 * that it was sealed for, so that one sealed secret cannot replace another.
 */
import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  createSecretKey,
  type KeyObject,
  randomBytes,
} from 'node:crypto';

const ALGORITHM = 'aes-256-gcm';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

export const SECRETS_KEY_BYTES = 32;

export class SecretBox {
  /** Made once: making it for each secret takes longer than to encrypt it. */
  readonly #key: KeyObject;
  readonly #fallback: KeyObject | undefined;
  /** Tells keys apart, and nothing about them. */
  readonly keyName: string;

  /** `fallback`: another key, which opens and does not seal. */
  constructor(key: Buffer, fallback?: Buffer) {
    this.#key = createSecretKey(key);
    this.#fallback = fallback && createSecretKey(fallback);
    this.keyName = createHmac('sha256', key).update('name').digest('hex').slice(0, 16);
  }

  seal(secret: Buffer, context: string): Buffer {
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv(ALGORITHM, this.#key, nonce).setAAD(Buffer.from(context));
    return Buffer.concat([nonce, cipher.update(secret), cipher.final(), cipher.getAuthTag()]);
  }

  /** Throws if both keys, the context or any bit differ from the sealing. */
  open(sealed: Buffer, context: string): Buffer {
    try {
      return this.#open(this.#key, sealed, context);
    } catch (error) {
      if (this.#fallback === undefined) throw error;
      return this.#open(this.#fallback, sealed, context);
    }
  }

  /** Whether it opens without the fallback. */
  isSealedByKey(sealed: Buffer, context: string): boolean {
    try {
      this.#open(this.#key, sealed, context);
      return true;
    } catch {
      return false;
    }
  }

  #open(key: KeyObject, sealed: Buffer, context: string): Buffer {
    if (sealed.length < NONCE_BYTES + TAG_BYTES) throw new Error('not a sealed secret');
    const nonce = sealed.subarray(0, NONCE_BYTES);
    const tag = sealed.subarray(sealed.length - TAG_BYTES);
    const decipher = createDecipheriv(ALGORITHM, key, nonce, { authTagLength: TAG_BYTES })
      .setAAD(Buffer.from(context))
      .setAuthTag(tag);
    return Buffer.concat([
      decipher.update(sealed.subarray(NONCE_BYTES, sealed.length - TAG_BYTES)),
      decipher.final(),
    ]);
  }
}
