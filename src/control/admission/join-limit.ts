/** Thirty joins a minute per credential, counted across all processes. Source: specification 4.11. */
import type { Pool } from '../../base/db/pool.ts';
import { Failure } from '../../base/failure.ts';
import { RateLimit } from '../../base/limits/rate-limit.ts';

const JOINS_PER_MINUTE = 30;
const MINUTE_SECONDS = 60;

export class JoinLimit {
  readonly #limit: RateLimit;

  constructor(db: Pool) {
    this.#limit = new RateLimit(db, { name: 'join', seconds: MINUTE_SECONDS });
  }

  /** Count one join. Throws `too_many_joins` beyond the limit. */
  async count(credentialId: string): Promise<void> {
    const waitMs = await this.#limit.count(credentialId, JOINS_PER_MINUTE);
    if (waitMs !== undefined) throw new Failure('too_many_joins', { retryAfter: Math.ceil(waitMs / 1000) });
  }
}
