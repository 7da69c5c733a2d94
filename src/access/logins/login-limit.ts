/**
 * Limits log-ins, counted across all processes: mails to one address; requests, wrong links, wrong passkeys and log-ins at
 * the issuer of one client.
 *
 * Anyone may ask for mails to an address, so what strangers do only slows them. There is always a mail whose link has not
 * expired, and it is in the mailbox of the owner, even if a stranger asked for it.
 */
import type { Pool } from '../../base/db/pool.ts';
import { Failure } from '../../base/failure.ts';
import { networkOf } from '../../base/lib/address.ts';
import { RateLimit } from '../../base/limits/rate-limit.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';

/** To one address, asked for by one client. */
export const LOGIN_MAILS_PER_HOUR = 5;
/** The least time between two mails to one address, beyond so many requests in a day from all clients. */
export const LOGIN_MAIL_GAPS = [
  { beyond: 10, seconds: 60 },
  { beyond: 20, seconds: 300 },
  { beyond: 40, seconds: 600 },
] as const;
/** Less than `LINK_MINUTES`. */
export const LOGIN_MAIL_GAP_MAX_MINUTES = Math.max(...LOGIN_MAIL_GAPS.map(({ seconds }) => seconds)) / 60;
/** From one client, to whatever addresses. */
export const LOGIN_REQUESTS_PER_HOUR = 20;
/** The limit of one client. */
export const WRONG_LINKS_PER_MINUTE = 30;
/** How often one client may ask to log in with a passkey. */
export const PASSKEY_REQUESTS_PER_MINUTE = 60;
/** The limit of one client. */
export const WRONG_PASSKEYS_PER_MINUTE = 30;
/** Log-ins at the issuer that one client begins. */
export const ATTEMPTS_PER_MINUTE = 60;
/** Failed log-ins that the audit trail of a tenant notes: from one client, and in all. A stranger must not fill it. */
export const FAILURES_NOTED_PER_HOUR = { ofClient: 5, ofTenant: 30 };

export class LoginLimit {
  readonly #mailsOfClient: RateLimit;
  readonly #mails: RateLimit;
  readonly #gaps: readonly { readonly beyond: number; readonly limit: RateLimit }[];
  readonly #requests: RateLimit;
  readonly #wrongLinks: RateLimit;
  readonly #passkeyRequests: RateLimit;
  readonly #wrongPasskeys: RateLimit;
  readonly #attempts: RateLimit;
  readonly #failuresOfClient: RateLimit;
  readonly #failuresOfTenant: RateLimit;

  constructor(db: Pool) {
    this.#mailsOfClient = new RateLimit(db, { name: 'login_mails_of_client', seconds: 3600 });
    this.#mails = new RateLimit(db, { name: 'login_mails', seconds: 86_400 });
    this.#gaps = LOGIN_MAIL_GAPS.map(({ beyond, seconds }) => ({
      beyond,
      limit: new RateLimit(db, { name: `login_mail_gap_${seconds}`, seconds }),
    }));
    this.#requests = new RateLimit(db, { name: 'login_requests', seconds: 3600 });
    this.#wrongLinks = new RateLimit(db, { name: 'login_links', seconds: 60 });
    this.#passkeyRequests = new RateLimit(db, { name: 'passkey_requests', seconds: 60 });
    this.#wrongPasskeys = new RateLimit(db, { name: 'wrong_passkeys', seconds: 60 });
    this.#attempts = new RateLimit(db, { name: 'login_attempts', seconds: 60 });
    this.#failuresOfClient = new RateLimit(db, { name: 'login_failures', seconds: 3600 });
    this.#failuresOfTenant = new RateLimit(db, { name: 'login_failures_of', seconds: 3600 });
  }

  /**
   * Count a request for a mail. Returns `undefined` if `email` may get one, or else the seconds until it may. Fails with
   * `too_many_logins` of a client.
   */
  async countRequest(address: string, email: string): Promise<number | undefined> {
    const network = networkOf(address);
    const ofClient = await this.#mailsOfClient.count(`${email} ${network}`, LOGIN_MAILS_PER_HOUR);
    refuse(
      ofClient,
      'too many links were asked for from your network: use the newest mail, or try again later',
    );
    refuse(await this.#requests.count(network, LOGIN_REQUESTS_PER_HOUR));
    const { points } = await this.#mails.add(email);
    const gap = this.#gaps.findLast(({ beyond }) => points > beyond);
    const waitMs = await gap?.limit.count(email, 1);
    return waitMs === undefined ? undefined : Math.ceil(waitMs / 1000);
  }

  /** Count a link that is wrong, used or old. Fails with `too_many_logins`. */
  async countWrongLink(address: string): Promise<void> {
    refuse(await this.#wrongLinks.count(networkOf(address), WRONG_LINKS_PER_MINUTE));
  }

  /** Count a request to log in with a passkey, which writes a row. Fails with `too_many_logins`. */
  async countPasskeyRequest(address: string): Promise<void> {
    refuse(await this.#passkeyRequests.count(networkOf(address), PASSKEY_REQUESTS_PER_MINUTE));
  }

  /** Count a passkey that was refused. Fails with `too_many_logins`. */
  async countWrongPasskey(address: string): Promise<void> {
    refuse(await this.#wrongPasskeys.count(networkOf(address), WRONG_PASSKEYS_PER_MINUTE));
  }

  /** Count a log-in at the issuer that begins. Fails with `too_many_logins`. */
  async countAttempt(address: string): Promise<void> {
    refuse(await this.#attempts.count(networkOf(address), ATTEMPTS_PER_MINUTE));
  }

  /** Count a log-in at the tenant that failed. Returns whether the audit trail should note it. */
  async countFailure(tenant: TenantId, address: string): Promise<boolean> {
    const { ofClient, ofTenant } = FAILURES_NOTED_PER_HOUR;
    const client = `${tenant}:${networkOf(address)}`;
    if ((await this.#failuresOfClient.count(client, ofClient)) !== undefined) return false;
    return (await this.#failuresOfTenant.count(`${tenant}`, ofTenant)) === undefined;
  }
}

function refuse(waitMs: number | undefined, message?: string): void {
  if (waitMs === undefined) return;
  throw new Failure('too_many_logins', {
    retryAfter: Math.ceil(waitMs / 1000),
    ...(message !== undefined && { message }),
  });
}
