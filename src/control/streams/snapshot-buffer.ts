/**
 * What was read of a snapshot and not yet taken by its client.
 *
 * A read holds a database connection and a turn. With the buffer it ends as soon as the rest fits, and the
 * client takes that at its own pace. A client that takes nothing loses its stream.
 */
import { Failure } from '../../base/failure.ts';
import type { StreamItem } from './stream-event.ts';

/** Sends one item, and resolves when the client can take the next one. */
export type Send = (item: StreamItem) => Promise<void>;

export interface SnapshotBufferLimits {
  readonly bytes: number;
  /** How long the client may take nothing, and how long it may take for half a full buffer. */
  readonly stallMs: number;
}

const SNAPSHOT_BUFFER: SnapshotBufferLimits = { bytes: 256 * 1024, stallMs: 5_000 };

/** Roughly, of an item in memory without its metadata. */
const ITEM_BYTES = 512;

export class SnapshotBuffer {
  readonly #send: Send;
  readonly #signal: AbortSignal;
  readonly #limits: SnapshotBufferLimits;
  readonly #items: StreamItem[] = [];
  #bytes = 0;
  #sending: Promise<void> | undefined;
  #failure: { readonly error: unknown } | undefined;
  /** Called when the buffer is half empty, or no more is sent. */
  #onRoom = () => {};

  constructor(send: Send, signal: AbortSignal, limits = SNAPSHOT_BUFFER) {
    this.#send = send;
    this.#signal = signal;
    this.#limits = limits;
  }

  /** Resolves when there is room for another item. Fails with `too_many_streams`, and as `send` fails. */
  async put(item: StreamItem): Promise<void> {
    this.#items.push(item);
    this.#bytes += sizeOf(item);
    this.#sending ??= this.#sendAll();
    if (this.#bytes >= this.#limits.bytes) await inTime(this.#room(), this.#limits.stallMs);
    this.#throwFailure();
  }

  /** Resolves when the client has taken everything, or is gone. Fails as `put()`. */
  async drain(): Promise<void> {
    await this.#sending;
    this.#throwFailure();
  }

  #throwFailure(): void {
    if (this.#failure) throw this.#failure.error;
  }

  #room(): Promise<void> {
    return new Promise((resolve) => {
      this.#onRoom = resolve;
    });
  }

  async #sendAll(): Promise<void> {
    try {
      while (this.#items.length > 0 && !this.#signal.aborted) {
        const item = this.#items.shift()!;
        await inTime(this.#send(item), this.#limits.stallMs);
        this.#bytes -= sizeOf(item);
        if (this.#bytes <= this.#limits.bytes / 2) this.#onRoom();
      }
    } catch (error) {
      this.#failure = { error };
    }
    this.#sending = undefined;
    this.#onRoom();
  }
}

function sizeOf(item: StreamItem): number {
  const metadata = item.type === 'snapshot' && item.of === 'room' ? item.subject.metadata : '';
  return ITEM_BYTES + metadata.length;
}

async function inTime(taking: Promise<void>, ms: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(notRead()), ms);
  });
  await Promise.race([taking, late]).finally(() => clearTimeout(timer));
}

export function notRead(): Failure {
  return new Failure('too_many_streams', { message: 'the snapshot was not read in time' });
}
