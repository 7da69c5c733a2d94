/**
 * What one relay is sent: each newer snapshot and, by its key, whether the tenant is admitted and which budgets are spent.
 *
 * Nothing is queued for a slow reader: it gets the newest state when it has taken what it was sent last.
 */
import { Readable } from 'node:stream';
import type { KeyLookups } from '../../access/keys/key-lookups.ts';
import type { Snapshot } from './sign-revocations.ts';

/** A fresh signature of the same revocations is sent only if the one before is older. */
const REPEAT_MS_MIN = 10_000;

export type FeedItem =
  | { readonly type: 'revocations'; readonly snapshot: Snapshot }
  | { readonly type: 'admitted'; readonly admitted: boolean; readonly reached: readonly string[] };

/** What is known of the tenant. */
export interface Known {
  readonly snapshot: Snapshot | undefined;
  /** `undefined`: not known yet. */
  readonly admitted: boolean | undefined;
  /** Hard budgets that are spent, by uid. */
  readonly reached: readonly string[];
}

export interface FeedStreamOptions {
  readonly known: Known;
  /** The relay key, if there is one: only then is `admitted` sent, and only while it works. */
  readonly keyId: string | undefined;
  readonly keyLookups: KeyLookups;
  readonly render: (item: FeedItem) => Buffer;
}

export class FeedStream extends Readable {
  readonly #options: FeedStreamOptions;
  /** Whether the reader has taken everything. */
  #isWaiting = false;
  #sent: Snapshot | undefined;
  #sentAt = 0;
  /** What `admitted` told last. */
  #told: string | undefined;
  #isCheckingKey = false;

  constructor(options: FeedStreamOptions) {
    super({ highWaterMark: 1 });
    this.#options = options;
  }

  override _read(): void {
    this.#isWaiting = true;
    this.offer();
  }

  /** Call this after changes. It may be called at any time. */
  offer(): void {
    const { known, keyId } = this.#options;
    if (this.#isWaiting && known.snapshot && this.#isNew(known.snapshot)) {
      this.#sent = known.snapshot;
      this.#sentAt = performance.now();
      this.#send({ type: 'revocations', snapshot: known.snapshot });
    }
    if (keyId !== undefined && this.#hasToTell() && !this.#isCheckingKey) void this.#tell(keyId);
  }

  /** Nothing is sent after it. */
  end(): void {
    this.#isWaiting = false;
    this.push(null);
  }

  #isNew(snapshot: Snapshot): boolean {
    if (snapshot.seq !== this.#sent?.seq) return true;
    return snapshot !== this.#sent && performance.now() - this.#sentAt >= REPEAT_MS_MIN;
  }

  #hasToTell(): boolean {
    const { admitted } = this.#options.known;
    return this.#isWaiting && admitted !== undefined && this.#standing() !== this.#told;
  }

  /** If the key cannot be looked up, the next `offer()` tries again. */
  async #tell(keyId: string): Promise<void> {
    const { known, keyLookups } = this.#options;
    this.#isCheckingKey = true;
    const key = await keyLookups.find(keyId).catch(() => undefined);
    this.#isCheckingKey = false;
    if (!this.#hasToTell()) return;
    if (key && !key.isWorking) return this.end();
    if (!key) return;
    this.#told = this.#standing();
    this.#send({ type: 'admitted', admitted: known.admitted!, reached: known.reached });
  }

  #standing(): string {
    const { admitted, reached } = this.#options.known;
    return `${admitted} ${reached.join(' ')}`;
  }

  #send(item: FeedItem): void {
    this.#isWaiting = this.push(this.#options.render(item));
  }
}
