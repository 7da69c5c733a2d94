/**
 * Limits invitations, counted across all processes: each is a mail to an address that may be a stranger's.
 *
 * One receiver gets few over all tenants; those that never paid have a share of their own, so that they use up none of the
 * others'.
 */
import type { Pool } from '../../base/db/pool.ts';
import { Failure } from '../../base/failure.ts';
import { networkOf } from '../../base/lib/address.ts';
import { RateLimit } from '../../base/limits/rate-limit.ts';
import { beyondLimit, limitOf, type TenantLimit } from '../../base/tenants/limits.ts';
import type { LimitHolder } from '../../base/tenants/places.sql.ts';
import { renderTenantId } from '../../base/tenants/tenant.ts';

export const INVITATIONS_LIMIT = {
  name: 'invitations_per_day',
  pending: 5,
  active: 50,
  unit: 'invitations a day',
} as const satisfies TenantLimit;

const DAY_SECONDS = 86_400;

/** To one address, over all tenants that never paid, and over all that paid. */
export const INVITATIONS_OF_RECEIVER = { pending: 2, active: 5 } as const;
/** From one client, for whatever tenants. */
export const INVITATIONS_OF_NETWORK = 60;

export class InvitationLimit {
  readonly #ofTenant: RateLimit;
  readonly #ofReceiver: RateLimit;
  readonly #ofNetwork: RateLimit;

  constructor(db: Pool) {
    this.#ofTenant = new RateLimit(db, { name: 'invitations', seconds: DAY_SECONDS });
    this.#ofReceiver = new RateLimit(db, { name: 'invitations_to', seconds: DAY_SECONDS });
    this.#ofNetwork = new RateLimit(db, { name: 'invitations_from', seconds: DAY_SECONDS });
  }

  /** Count one invitation of `email` by the client at `address`. Throws `too_many_invitations` beyond a limit. */
  async count(tenant: LimitHolder, { email, address }: { email: string; address: string }): Promise<void> {
    const max = limitOf(tenant, INVITATIONS_LIMIT);
    const ofTenant = await this.#ofTenant.count(renderTenantId(tenant.id), max);
    if (ofTenant !== undefined)
      throw beyondLimit('too_many_invitations', INVITATIONS_LIMIT, max, {
        retryAfter: Math.ceil(ofTenant / 1000),
      });
    const share = tenant.status === 'pending' ? 'pending' : 'active';
    refuse(
      await this.#ofReceiver.count(`${share} ${email}`, INVITATIONS_OF_RECEIVER[share]),
      'too many invitations of this address today',
    );
    refuse(
      await this.#ofNetwork.count(networkOf(address), INVITATIONS_OF_NETWORK),
      'too many invitations from your network today',
    );
  }
}

function refuse(waitMs: number | undefined, message: string): void {
  if (waitMs === undefined) return;
  throw new Failure('too_many_invitations', { message, retryAfter: Math.ceil(waitMs / 1000) });
}
