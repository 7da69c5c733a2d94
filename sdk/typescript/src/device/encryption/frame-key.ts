/** Keys of frames, and what stands behind each encrypted frame: docs/encryption.md. */

export const SALT_BYTES = 12;
export const TAG_BYTES = 16;
/** Salt, counter and mark. */
export const TRAILER_BYTES = SALT_BYTES + 6;
export const MARK = 0xe2ee;
export const COUNTER_MAX = 2 ** 32 - 1;

/** Whose frames they are. */
export interface Origin {
  readonly room: string;
  readonly username: string;
}

/** The key of one salt: no two senders share it, so each may count its frames from 0. `key`: the application's. */
export function deriveFrameKey(
  key: CryptoKey,
  salt: Uint8Array<ArrayBuffer>,
  { room, username }: Origin,
): Promise<CryptoKey> {
  const info = new TextEncoder().encode(['boxoffice e2ee 1', room, username].join('\0'));
  const derivation = { name: 'HKDF', hash: 'SHA-256', salt, info };
  return crypto.subtle.deriveKey(derivation, key, { name: 'AES-GCM', length: 128 }, false, [
    'encrypt',
    'decrypt',
  ]);
}

/** Of AES-GCM. A counter comes once under one key. */
export function cipherOf(counter: number, additionalData: Uint8Array<ArrayBuffer>): AesGcmParams {
  const iv = new Uint8Array(12);
  new DataView(iv.buffer).setUint32(8, counter);
  return { name: 'AES-GCM', iv, additionalData, tagLength: TAG_BYTES * 8 };
}

export interface Trailer {
  readonly salt: Uint8Array<ArrayBuffer>;
  readonly counter: number;
}

export function writeTrailer({ salt, counter }: Trailer): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(TRAILER_BYTES);
  bytes.set(salt);
  const view = new DataView(bytes.buffer);
  view.setUint32(SALT_BYTES, counter);
  view.setUint16(SALT_BYTES + 4, MARK);
  return bytes;
}

/** At the end of these bytes; `undefined`: there is none, so the frame is not encrypted. */
export function readTrailer(bytes: Uint8Array): Trailer | undefined {
  if (bytes.length < TAG_BYTES + TRAILER_BYTES) return undefined;
  const trailer = bytes.slice(-TRAILER_BYTES) as Uint8Array<ArrayBuffer>;
  const view = new DataView(trailer.buffer);
  if (view.getUint16(SALT_BYTES + 4) !== MARK) return undefined;
  return { salt: trailer.slice(0, SALT_BYTES), counter: view.getUint32(SALT_BYTES) };
}
