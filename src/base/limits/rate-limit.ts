/** A rate limit, counted in a table that every process shares and that the migrations make. */
import type pg from 'pg';
import { RateLimiterPostgres, RateLimiterRes } from 'rate-limiter-flexible';

export class RateLimit {
  readonly #limiter: RateLimiterPostgres;

  /** `max` in a window of `seconds`, for each key. The name tells the limits in the table apart. */
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

  /** Count one. Beyond the limit, returns how many milliseconds are left of the window; else `undefined`. */
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
