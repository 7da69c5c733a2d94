/** The page's side of end-to-end encryption: the key, the worker that has it, and the transforms of senders and receivers. */
import { Emitter } from '../emitter.ts';
import type { Origin } from './frame-key.ts';
import { CODECS } from './frame-layout.ts';
import type { FromWorker, ToWorker, TransformOptions } from './worker.ts';
import { WORKER_SOURCE } from './worker-source.ts';

export interface MediaEncryptionEvents {
  /** Media of a participant begins to be dropped, because it cannot be decrypted. */
  unreadable: { readonly username: string };
}

const KEY_BYTES_MIN = 16;

export class MediaEncryption extends Emitter<MediaEncryptionEvents> {
  readonly #worker: Worker;
  readonly #started: Promise<void>;
  /** For each receiver, by its number, the connection that it is of. */
  readonly #connections: object[] = [];
  /** Whose media a connection carries. */
  readonly #usernames = new Map<object, string>();
  readonly #unreadable = new Set<string>();
  #keyTaken = () => {};
  #hasKey = false;

  /** `makeWorker`: for pages that allow no worker from a `blob:` URL. */
  constructor(makeWorker: () => Worker = makeBlobWorker) {
    super();
    this.#worker = makeWorker();
    this.#started = new Promise((resolve, reject) => {
      this.#worker.onmessage = ({ data }: MessageEvent<FromWorker>) => {
        if (data.type === 'ready') resolve();
        else if (data.type === 'key') this.#keyTaken();
        else this.#changed(data.number, data.isReadable);
      };
      this.#worker.onerror = () =>
        reject(
          new Error('the worker for encryption did not start: does a content security policy allow it?'),
        );
    });
    this.#started.catch(() => undefined);
  }

  get hasKey(): boolean {
    return this.#hasKey;
  }

  /** Resolves when the key is used. Throws `TypeError` for a key that is too short, and what keeps the worker from starting. */
  async setKey(key: Uint8Array<ArrayBuffer> | CryptoKey): Promise<void> {
    if (key instanceof Uint8Array && key.length < KEY_BYTES_MIN) {
      throw new TypeError(`an encryption key has at least ${KEY_BYTES_MIN} bytes`);
    }
    const imported =
      key instanceof Uint8Array
        ? await crypto.subtle.importKey('raw', key, 'HKDF', false, ['deriveKey'])
        : key;
    await this.#started;
    await new Promise<void>((resolve) => {
      this.#keyTaken = resolve;
      this.#tell({ type: 'key', key: imported });
    });
    this.#hasKey = true;
  }

  encrypt(sender: RTCRtpSender, origin: Origin): void {
    sender.transform = this.#transform({ side: 'sender', origin });
  }

  /** Until `tellOrigin()` says whose it is, all media is dropped. */
  decrypt(receiver: RTCRtpReceiver, connection: object): void {
    const number = this.#connections.push(connection) - 1;
    receiver.transform = this.#transform({ side: 'receiver', number });
  }

  tellOrigin(connection: object, origin: Origin): void {
    this.#usernames.set(connection, origin.username);
    for (const [number, each] of this.#connections.entries()) {
      if (each === connection) this.#tell({ type: 'origin', number, origin });
    }
  }

  close(): void {
    this.#worker.terminate();
  }

  #transform(options: TransformOptions): RTCRtpScriptTransform {
    return new RTCRtpScriptTransform(this.#worker, options);
  }

  #tell(message: ToWorker): void {
    this.#worker.postMessage(message);
  }

  #changed(number: number, isReadable: boolean): void {
    const username = this.#usernames.get(this.#connections[number]!)!;
    if (isReadable) this.#unreadable.delete(username);
    else if (!this.#unreadable.has(username)) {
      this.#unreadable.add(username);
      this.emit('unreadable', { username });
    }
  }
}

/** Leaves out the codecs of a section that cannot be encrypted. Call it before the offer. */
export function keepEncryptable(transceiver: RTCRtpTransceiver): void {
  const wanted: readonly string[] = [...CODECS, 'video/rtx'].map((codec) => codec.toLowerCase());
  const { codecs = [] } = RTCRtpReceiver.getCapabilities(transceiver.receiver.track.kind) ?? {};
  transceiver.setCodecPreferences(codecs.filter(({ mimeType }) => wanted.includes(mimeType.toLowerCase())));
}

function makeBlobWorker(): Worker {
  const url = URL.createObjectURL(new Blob([WORKER_SOURCE], { type: 'text/javascript' }));
  const worker = new Worker(url);
  URL.revokeObjectURL(url);
  return worker;
}
