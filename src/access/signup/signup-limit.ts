/** Five signups an hour per client address, counted across all processes. Source: specification 4.2. */
import type { Pool } from '../../base/db/pool.ts';
import { Failure } from '../../base/failure.ts';
import { networkOf } from '../../base/lib/address.ts';
import { RateLimit } from '../../base/limits/rate-limit.ts';

const SIGNUPS_PER_HOUR = 5;
const HOUR_SECONDS = 3600;

export class SignupLimit {
  readonly #limit: RateLimit;

  constructor(pool: Pool) {
    this.#limit = new RateLimit(pool, { name: 'signup', max: SIGNUPS_PER_HOUR, seconds: HOUR_SECONDS });
  }

  /** Count one signup. Throws `too_many_signups` beyond the limit. */
  async count(address: string): Promise<void> {
    const waitMs = await this.#limit.count(networkOf(address));
    if (waitMs !== undefined) throw new Failure('too_many_signups', { retryAfter: Math.ceil(waitMs / 1000) });
  }
}
