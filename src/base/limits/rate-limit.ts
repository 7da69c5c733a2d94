/** A rate limit, counted in a table that all processes share. The migrations create it. */
import type pg from 'pg';
import { RateLimiterPostgres } from 'rate-limiter-flexible';

export class RateLimit {
  readonly #counter: RateLimiterPostgres;

  /** A window of `seconds` begins with the first count of a key. `name` separates the limits in the table. */
  constructor(pool: pg.Pool, { name, seconds }: { name: string; seconds: number }) {
    this.#counter = new RateLimiterPostgres({
      storeClient: pool,
      storeType: 'pool',
      tableName: 'rate_limits',
      tableCreated: true,
      keyPrefix: name,
      duration: seconds,
      // The counter's own limit. Each count names the limit that it is compared with.
      points: Number.MAX_SAFE_INTEGER,
    });
  }

  /**
   * Count one. If the window has more than `max` now, returns the milliseconds until it ends; otherwise
   * `undefined`.
   */
  async count(key: string, max: number): Promise<number | undefined> {
    const { consumedPoints, msBeforeNext } = await this.#counter.penalty(key, 1);
    return consumedPoints > max ? msBeforeNext : undefined;
  }
}
