/** Thirty joins a minute with one credential, counted across all processes. Source: specification 4.11. */
import { RateLimiterPostgres, RateLimiterRes } from 'rate-limiter-flexible';
import type { Pool } from '../db/pool.ts';
import { Failure } from '../failure.ts';
import { RATE_LIMITS_TABLE } from '../lib/rate-limits.ts';

const JOINS_PER_MINUTE = 30;
const MINUTE_SECONDS = 60;

export class JoinLimit {
  readonly #limiter: RateLimiterPostgres;

  constructor(pool: Pool) {
    this.#limiter = new RateLimiterPostgres({
      storeClient: pool,
      ...RATE_LIMITS_TABLE,
      keyPrefix: 'join',
      points: JOINS_PER_MINUTE,
      duration: MINUTE_SECONDS,
    });
  }

  /** Count one join. Throws `too_many_joins` beyond the limit. */
  async count(credentialId: string): Promise<void> {
    try {
      await this.#limiter.consume(credentialId);
    } catch (refusal) {
      if (!(refusal instanceof RateLimiterRes)) throw refusal;
      throw new Failure('too_many_joins', { retryAfter: Math.ceil(refusal.msBeforeNext / 1000) });
    }
  }
}
