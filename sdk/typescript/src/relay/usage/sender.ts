/**
 * Sends the records of the spool, oldest first, one request at a time, until all are sent.
 *
 * Source: specification 4.12, charging rule 4. The number of attempts is unlimited: a record leaves the
 * spool only when the service has answered for it.
 */
import type { Admission } from './admission.ts';
import { Backoff } from './backoff.ts';
import { type BatchLimits, renderBatch, splitBatches } from './batches.ts';
import { type Clock, pause } from './clock.ts';
import type { Emit } from './events.ts';
import { type KeySource, readKey } from './key.ts';
import { type Accepted, postUsage, type Refused, type Retry } from './post-usage.ts';
import type { Segment, Spool } from './spool.ts';

/** A refused key is tried again after this time, in case the refusal was a mistake. */
const SAME_KEY_MS = 60_000;
/** Time from an answer to the empty batch that asks for `admitted`, plus or minus a fifth. */
const POLL_MS = 15_000;
const POLL_JITTER = 0.2;

export interface SenderOptions {
  readonly url: string;
  readonly key: KeySource;
  readonly limits: BatchLimits;
  /** How long the first record of a batch waits for more. */
  readonly batchMs: number;
  readonly fetch: typeof globalThis.fetch;
  readonly clock: Clock;
  readonly random: () => number;
  readonly spool: Spool;
  readonly admission: Admission;
  readonly emit: Emit;
}

export class Sender {
  readonly #options: SenderOptions;
  readonly #backoff: Backoff;
  readonly #stop = new AbortController();
  readonly #stopPolls = new AbortController();
  #idle = new AbortController();
  #key: string | undefined;
  #refused: { readonly key: string; readonly at: number } | undefined;
  /** Monotonic times: the earliest time of the next request, and of the next empty batch. */
  #notBefore: number;
  #pollAt: number;
  #running: Promise<void> = Promise.resolve();

  constructor(options: SenderOptions) {
    this.#options = options;
    this.#backoff = new Backoff(options.random);
    this.#notBefore = options.clock.now();
    this.#pollAt = this.#notBefore;
  }

  start(): void {
    this.#running = this.#run();
  }

  /** Check again whether there is something to send. */
  wake(): void {
    this.#idle.abort();
  }

  /** Send sealed segments until all are sent or `deadlineMs` has passed; then stop. */
  async drain(deadlineMs: number): Promise<void> {
    const cancel = this.#options.clock.after(deadlineMs, () => this.#stop.abort());
    this.#stopPolls.abort();
    this.wake();
    await this.#running;
    cancel();
  }

  async #run(): Promise<void> {
    const { spool, clock, batchMs } = this.#options;
    try {
      for (;;) {
        const segment = spool.oldest();
        if (segment) {
          await this.#sendSegment(segment);
          continue;
        }
        if (this.#stopPolls.signal.aborted) return;

        const now = clock.now();
        const batchAt = (spool.openSince ?? Number.POSITIVE_INFINITY) + batchMs;
        const pollAt = Math.max(this.#pollAt, this.#notBefore);
        if (batchAt <= now) await spool.seal();
        else if (pollAt <= now) await this.#attempt([], this.#stopPolls.signal);
        else await this.#sleep(Math.min(batchAt, pollAt) - now);
      }
    } catch (error) {
      if (!this.#stop.signal.aborted) throw error;
    }
  }

  async #sleep(ms: number): Promise<void> {
    this.#idle = new AbortController();
    await pause(this.#options.clock, ms, this.#idle.signal);
  }

  /** Settle every record of a segment: accepted, or quarantined. */
  async #sendSegment(segment: Segment): Promise<void> {
    const { spool, limits } = this.#options;
    const lines = await spool.read(segment);
    if (!lines) return;
    let settled = true;
    for (const batch of splitBatches(lines, limits)) {
      settled = (await this.#sendBatch(batch, segment)) && settled;
    }
    await spool.settle(segment, settled ? 'delete' : 'keep');
  }

  /**
   * A refused batch is halved until the faulty records are isolated, so that they do not hold up the
   * others. False means that a person should inspect the segment.
   */
  async #sendBatch(lines: readonly string[], segment: Segment): Promise<boolean> {
    const outcome = await this.#post(lines);
    if (outcome.kind === 'accepted') return this.#countsAgree(outcome, lines.length, segment);
    if (lines.length === 1) return await this.#quarantine(lines[0]!, outcome.message, segment);

    const middle = lines.length >> 1;
    const first = await this.#sendBatch(lines.slice(0, middle), segment);
    return (await this.#sendBatch(lines.slice(middle), segment)) && first;
  }

  #countsAgree({ charged, duplicates, unbilled }: Accepted, records: number, segment: Segment): boolean {
    const { spool, emit } = this.#options;
    const counts = { records, charged, duplicates, unbilled };
    if (charged + duplicates + unbilled === records) {
      emit({ type: 'batch_accepted', ...counts });
      return true;
    }
    emit({ type: 'counts_differ', ...counts, file: spool.keptPath(segment) });
    return false;
  }

  /** If the quarantine cannot be written, as on a full disk, the segment itself is kept. */
  async #quarantine(line: string, message: string, segment: Segment): Promise<boolean> {
    const { spool, emit } = this.#options;
    const { id } = JSON.parse(line) as { id: string };
    try {
      await spool.quarantine(line, message);
      emit({ type: 'record_quarantined', id, message, file: spool.quarantinePath });
      return true;
    } catch {
      emit({ type: 'record_quarantined', id, message, file: spool.keptPath(segment) });
      return false;
    }
  }

  /** Repeat the same batch until the service accepts or refuses it. Throws if the sender is stopped. */
  async #post(lines: readonly string[]): Promise<Accepted | Refused> {
    const { signal } = this.#stop;
    for (;;) {
      const outcome = await this.#attempt(lines, signal);
      signal.throwIfAborted();
      if (outcome?.kind === 'refused' && lines.length === 1) {
        // Before a record is condemned: a service that refuses even an empty batch says nothing about the record.
        const empty = await this.#attempt([], signal);
        if (empty?.kind === 'accepted') return outcome;
      } else if (outcome) {
        return outcome;
      }
    }
  }

  /** One request, at its time. Undefined means retry; the delay is already set. */
  async #attempt(lines: readonly string[], signal: AbortSignal): Promise<Accepted | Refused | undefined> {
    const { url, fetch, clock, admission } = this.#options;
    await pause(clock, this.#notBefore - clock.now(), signal);
    const key = await this.#currentKey(signal);
    if (key === undefined || signal.aborted) return undefined;

    const outcome = await postUsage({ url, key, body: renderBatch(lines), fetch, clock, signal });
    switch (outcome.kind) {
      case 'accepted':
        this.#backoff.reset();
        this.#refused = undefined;
        this.#pollAt = clock.now() + POLL_MS * (1 + POLL_JITTER * (2 * this.#options.random() - 1));
        admission.set(outcome.admitted);
        return outcome;
      case 'refused':
        if (lines.length > 0) return outcome;
        this.#retryLater({
          reason: 'unexpected_answer',
          status: outcome.status,
          cause: undefined,
          afterMs: 0,
        });
        return undefined;
      case 'key_refused':
        this.#key = undefined;
        this.#refused = { key, at: clock.now() };
        this.#options.emit({ type: 'key_refused', retryMs: this.#delay() });
        return undefined;
      case 'retry':
        if (!signal.aborted) this.#retryLater(outcome);
        return undefined;
    }
  }

  /** The key to send with; undefined while there is no usable key. */
  async #currentKey(signal: AbortSignal): Promise<string | undefined> {
    const { key: source, clock, emit } = this.#options;
    if (this.#key !== undefined) return this.#key;
    try {
      const key = await readKey(source, clock, signal);
      if (key === this.#refused?.key && clock.now() - this.#refused.at < SAME_KEY_MS) {
        this.#delay();
        return undefined;
      }
      this.#key = key;
      return key;
    } catch (cause) {
      if (!signal.aborted) emit({ type: 'key_unreadable', cause, retryMs: this.#delay() });
      return undefined;
    }
  }

  #retryLater({ reason, status, cause, afterMs }: Omit<Retry, 'kind'>): void {
    const retryMs = this.#delay(afterMs);
    this.#options.emit({
      type: 'send_failed',
      reason,
      status,
      cause,
      attempt: this.#backoff.failures,
      retryMs,
    });
  }

  /** Delay the next request, after a failure. */
  #delay(atLeastMs = 0): number {
    const delayMs = this.#backoff.next(atLeastMs);
    this.#notBefore = this.#options.clock.now() + delayMs;
    return delayMs;
  }
}
