/** Limits log-ins, counted across all processes: mails to one address, and requests and wrong links of one client. */
import type { Pool } from '../../base/db/pool.ts';
import { Failure } from '../../base/failure.ts';
import { networkOf } from '../../base/lib/address.ts';
import { RateLimit } from '../../base/limits/rate-limit.ts';

/** To one address, whoever asks for them. */
export const LOGIN_MAILS_PER_HOUR = 5;
/** From one client, to whatever addresses. */
export const LOGIN_REQUESTS_PER_HOUR = 20;
/** Of one client. */
export const WRONG_LINKS_PER_MINUTE = 30;

export class LoginLimit {
  readonly #mails: RateLimit;
  readonly #requests: RateLimit;
  readonly #wrongLinks: RateLimit;

  constructor(db: Pool) {
    this.#mails = new RateLimit(db, { name: 'login_mails', seconds: 3600 });
    this.#requests = new RateLimit(db, { name: 'login_requests', seconds: 3600 });
    this.#wrongLinks = new RateLimit(db, { name: 'login_links', seconds: 60 });
  }

  /** Count a request for a mail. Returns whether `email` may get one; fails with `too_many_logins` of a client. */
  async countRequest(address: string, email: string): Promise<boolean> {
    refuse(await this.#requests.count(networkOf(address), LOGIN_REQUESTS_PER_HOUR));
    return (await this.#mails.count(email, LOGIN_MAILS_PER_HOUR)) === undefined;
  }

  /** Count a link that is wrong, used or old. Fails with `too_many_logins`. */
  async countWrongLink(address: string): Promise<void> {
    refuse(await this.#wrongLinks.count(networkOf(address), WRONG_LINKS_PER_MINUTE));
  }
}

function refuse(waitMs: number | undefined): void {
  if (waitMs !== undefined) throw new Failure('too_many_logins', { retryAfter: Math.ceil(waitMs / 1000) });
}
