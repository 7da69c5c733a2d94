/** A rate limit, counted in a table that all processes share. The migrations create it. */
import type pg from 'pg';
import { RateLimiterPostgres, RateLimiterRes } from 'rate-limiter-flexible';

export class RateLimit {
  readonly #limiter: RateLimiterPostgres;

  /** At most `max` per window of `seconds` for each key. `name` separates the limits in the table. */
  constructor(pool: pg.Pool, { name, max, seconds }: { name: string; max: number; seconds: number }) {
    this.#limiter = new RateLimiterPostgres({
      storeClient: pool,
      storeType: 'pool',
      tableName: 'rate_limits',
      tableCreated: true,
      keyPrefix: name,
      points: max,
      duration: seconds,
    });
  }

  /** Count one. Above the limit, returns the milliseconds left in the window; otherwise `undefined`. */
  async count(key: string): Promise<number | undefined> {
    try {
      await this.#limiter.consume(key);
      return undefined;
    } catch (refusal) {
      if (!(refusal instanceof RateLimiterRes)) throw refusal;
      return refusal.msBeforeNext;
    }
  }
}
