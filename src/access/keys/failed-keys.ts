/**
 * The budget of wrong keys per address, counted across all processes.
 *
 * A well-formed wrong key costs one look-up and one count. Once an address has used up its budget, this
 * process refuses it from memory until the window ends, without querying the database. Keys that worked here
 * before are still verified, even from a blocked address, so that a stranger behind a shared address cannot
 * lock out other callers.
 */
import type { Pool } from '../../base/db/pool.ts';
import { Failure } from '../../base/failure.ts';
import { networkOf } from '../../base/lib/address.ts';
import { RateLimit } from '../../base/limits/rate-limit.ts';

const WRONG_KEYS_PER_WINDOW = 100;
const WINDOW_SECONDS = 60;
const KNOWN_KEYS_MAX = 10_000;

export class FailedKeys {
  readonly #limit: RateLimit;
  /** Blocked addresses, each with the end of its block in milliseconds of the monotonic clock. */
  readonly #blocked = new Map<string, number>();
  readonly #known = new Set<string>();

  constructor(pool: Pool) {
    this.#limit = new RateLimit(pool, {
      name: 'failed_keys',
      max: WRONG_KEYS_PER_WINDOW,
      seconds: WINDOW_SECONDS,
    });
  }

  /** Throws `too_many_failed_keys` while the address is blocked. Never queries the database. */
  refuseIfBlocked(address: string): void {
    const network = networkOf(address);
    const until = this.#blocked.get(network);
    if (until === undefined) return;
    const remaining = until - performance.now();
    if (remaining > 0) throw new Failure('too_many_failed_keys', { retryAfter: Math.ceil(remaining / 1000) });
    this.#blocked.delete(network);
  }

  /** Count one wrong key. */
  async count(address: string): Promise<void> {
    const network = networkOf(address);
    const waitMs = await this.#limit.count(network);
    if (waitMs !== undefined) this.#block(network, waitMs);
  }

  /** Each new block drops the expired ones, so that memory holds at most one window's worth. */
  #block(network: string, ms: number): void {
    const now = performance.now();
    for (const [other, until] of this.#blocked) if (until <= now) this.#blocked.delete(other);
    this.#blocked.set(network, now + ms);
  }

  isKnown(keyId: string): boolean {
    return this.#known.has(keyId);
  }

  /** Remember a key that just worked. Beyond KNOWN_KEYS_MAX, the oldest one is dropped. */
  remember(keyId: string): void {
    if (this.#known.has(keyId)) return;
    if (this.#known.size >= KNOWN_KEYS_MAX) this.#known.delete(this.#known.values().next().value!);
    this.#known.add(keyId);
  }
}
