/** Decrypts the frames of one track of one publisher. */
import { cipherOf, deriveFrameKey, type Origin, readTrailer, TRAILER_BYTES } from './frame-key.ts';
import { authenticated, type Codec, clearBytes, concat, unpack } from './frame-layout.ts';
import { ReplayWindow } from './replay-window.ts';

/** A sender whose frames were read. */
interface Known {
  /** The application's key that it is derived from. */
  readonly source: CryptoKey;
  readonly key: CryptoKey;
  readonly window: ReplayWindow;
}

export class FrameDecryptor {
  readonly #origin: Origin;
  /** By salt. Only frames that are authentic add one. */
  readonly #senders = new Map<string, Known>();

  constructor(origin: Origin) {
    this.#origin = origin;
  }

  /**
   * `sources`: the application's keys, the newest first. `undefined`: it is not encrypted, or with none of them, or was
   * changed. `replayed`: it came before.
   */
  async decrypt(
    sources: readonly CryptoKey[],
    codec: Codec,
    frame: Uint8Array,
  ): Promise<Uint8Array<ArrayBuffer> | 'replayed' | undefined> {
    const length = clearBytes(codec, frame);
    if (length === undefined) return undefined;
    const clear = frame.subarray(0, length);
    const rest = unpack(codec, frame.subarray(length), clear);
    const trailer = readTrailer(rest);
    if (!trailer) return undefined;
    const cipher = cipherOf(trailer.counter, authenticated(codec, clear));
    const sealed = rest.slice(0, -TRAILER_BYTES) as Uint8Array<ArrayBuffer>;
    for await (const sender of this.#candidates(sources, trailer.salt)) {
      const plain = await open(cipher, sender.key, sealed);
      if (!plain) continue;
      this.#senders.set(String(trailer.salt), sender);
      return sender.window.take(trailer.counter) ? concat([clear, plain]) : 'replayed';
    }
    return undefined;
  }

  async *#candidates(
    sources: readonly CryptoKey[],
    salt: Uint8Array<ArrayBuffer>,
  ): AsyncGenerator<Known, void> {
    const known = this.#senders.get(String(salt));
    if (known && sources.includes(known.source)) return yield known;
    for (const source of sources) {
      const key = await deriveFrameKey(source, salt, this.#origin);
      yield { source, key, window: new ReplayWindow() };
    }
  }
}

async function open(
  cipher: AesGcmParams,
  key: CryptoKey,
  sealed: Uint8Array<ArrayBuffer>,
): Promise<Uint8Array | undefined> {
  try {
    return new Uint8Array(await crypto.subtle.decrypt(cipher, key, sealed));
  } catch {
    return undefined;
  }
}
