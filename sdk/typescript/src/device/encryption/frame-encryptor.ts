/** Encrypts the frames of one track on one connection. */
import { COUNTER_MAX, cipherOf, deriveFrameKey, type Origin, SALT_BYTES, writeTrailer } from './frame-key.ts';
import { authenticated, type Codec, clearBytes, concat, pack } from './frame-layout.ts';

/** What one key is for: a salt, and the frames that are counted with it. */
interface Epoch {
  readonly source: CryptoKey;
  readonly salt: Uint8Array<ArrayBuffer>;
  readonly key: CryptoKey;
  counter: number;
}

export class FrameEncryptor {
  readonly #origin: Origin;
  #epoch: Epoch | undefined;

  constructor(origin: Origin) {
    this.#origin = origin;
  }

  /** `source`: the application's key. Call it for one frame after another. `undefined`: the frame cannot be sent encrypted. */
  async encrypt(
    source: CryptoKey,
    codec: Codec,
    frame: Uint8Array,
  ): Promise<Uint8Array<ArrayBuffer> | undefined> {
    const length = clearBytes(codec, frame);
    if (length === undefined) return undefined;
    const clear = frame.subarray(0, length);
    const epoch = await this.#epochOf(source);
    const counter = epoch.counter++;
    const cipher = cipherOf(counter, authenticated(codec, clear));
    const plain = frame.slice(length) as Uint8Array<ArrayBuffer>;
    const sealed = new Uint8Array(await crypto.subtle.encrypt(cipher, epoch.key, plain));
    const rest = concat([sealed, writeTrailer({ salt: epoch.salt, counter })]);
    return concat([clear, pack(codec, rest, clear)]);
  }

  async #epochOf(source: CryptoKey): Promise<Epoch> {
    const known = this.#epoch;
    if (known?.source === source && known.counter <= COUNTER_MAX) return known;
    const salt = crypto.getRandomValues(new Uint8Array(SALT_BYTES));
    const key = await deriveFrameKey(source, salt, this.#origin);
    this.#epoch = { source, salt, key, counter: 0 };
    return this.#epoch;
  }
}
