/** Five signups an hour for one client address, counted across all processes. Source: specification 4.2. */
import { RateLimiterPostgres, RateLimiterRes } from 'rate-limiter-flexible';
import type { Pool } from '../db/pool.ts';
import { Failure } from '../failure.ts';
import { networkOf } from '../lib/address.ts';
import { RATE_LIMITS_TABLE } from '../lib/rate-limits.ts';

const SIGNUPS_PER_HOUR = 5;
const HOUR_SECONDS = 3600;

export class SignupLimit {
  readonly #limiter: RateLimiterPostgres;

  constructor(pool: Pool) {
    this.#limiter = new RateLimiterPostgres({
      storeClient: pool,
      ...RATE_LIMITS_TABLE,
      keyPrefix: 'signup',
      points: SIGNUPS_PER_HOUR,
      duration: HOUR_SECONDS,
    });
  }

  /** Count one signup. Throws `too_many_signups` beyond the limit. */
  async count(address: string): Promise<void> {
    try {
      await this.#limiter.consume(networkOf(address));
    } catch (refusal) {
      if (!(refusal instanceof RateLimiterRes)) throw refusal;
      throw new Failure('too_many_signups', { retryAfter: Math.ceil(refusal.msBeforeNext / 1000) });
    }
  }
}
