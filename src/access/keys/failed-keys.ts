/**
 * The budgets of wrong keys, counted across all processes.
 *
 * Every secret is verified first, so a correct one passes whatever others sent from its address. A wrong one
 * is counted for its id and address, then for the address: a client that repeats one wrong key uses up its
 * own budget and leaves its neighbours most of theirs. Whether the id exists changes nothing, so answers do
 * not tell. While a budget is used up, this process answers from memory and counts no more.
 */
import type { Pool } from '../../base/db/pool.ts';
import { Failure } from '../../base/failure.ts';
import { networkOf } from '../../base/lib/address.ts';
import { RateLimit } from '../../base/limits/rate-limit.ts';

const WRONG_KEYS_PER_ID = 80;
const WRONG_KEYS_PER_ADDRESS = 100;
const WINDOW_SECONDS = 60;

export class FailedKeys {
  readonly #limit: RateLimit;
  /** Used-up budgets, each with the end of its window in milliseconds of the monotonic clock. */
  readonly #spent = new Map<string, number>();

  constructor(pool: Pool) {
    this.#limit = new RateLimit(pool, { name: 'failed_keys', seconds: WINDOW_SECONDS });
  }

  /** Count one wrong key, and return how to refuse it: `invalid_api_key` or `too_many_failed_keys`. */
  async count(address: string, id: string): Promise<Failure> {
    const ofAddress = networkOf(address);
    const ofId = `${ofAddress} ${id}`;
    const waitMs =
      this.#waitFor(ofAddress) ??
      this.#waitFor(ofId) ??
      (await this.#count(ofId, WRONG_KEYS_PER_ID)) ??
      (await this.#count(ofAddress, WRONG_KEYS_PER_ADDRESS));
    if (waitMs === undefined) return new Failure('invalid_api_key');
    return new Failure('too_many_failed_keys', { retryAfter: Math.ceil(waitMs / 1000) });
  }

  /** Milliseconds until a budget that this process knows to be used up is full again. */
  #waitFor(budget: string): number | undefined {
    const waitMs = (this.#spent.get(budget) ?? 0) - performance.now();
    return waitMs > 0 ? waitMs : undefined;
  }

  async #count(budget: string, max: number): Promise<number | undefined> {
    const waitMs = await this.#limit.count(budget, max);
    if (waitMs !== undefined) this.#remember(budget, performance.now() + waitMs);
    return waitMs;
  }

  /** Each new entry drops the expired ones, so that memory holds at most one window's worth. */
  #remember(budget: string, until: number): void {
    const now = performance.now();
    for (const [other, end] of this.#spent) if (end <= now) this.#spent.delete(other);
    this.#spent.set(budget, until);
  }
}
