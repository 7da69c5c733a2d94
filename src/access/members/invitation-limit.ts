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
  async count(tenant: LimitHolder, to: Receiver): Promise<void> {
    for (const counted of this.#allOf(tenant, to)) await countOne(counted);
  }

  /** Count one that is sent again by `work`, unless it fails. Throws `too_many_invitations` beyond a limit, and what `work` throws. */
  async countAgain<T>(tenant: LimitHolder, to: Receiver, work: () => Promise<T>): Promise<T> {
    const counted: Counted[] = [];
    try {
      for (const each of this.#allOf(tenant, to)) {
        counted.push(each);
        await countOne(each);
      }
      return await work();
    } catch (error) {
      await Promise.allSettled(counted.map(({ limit, key }) => limit.takeBack(key)));
      throw error;
    }
  }

  #allOf(tenant: LimitHolder, { email, address }: Receiver): readonly Counted[] {
    const max = limitOf(tenant, INVITATIONS_LIMIT);
    const share = tenant.status === 'pending' ? 'pending' : 'active';
    return [
      {
        limit: this.#ofTenant,
        key: renderTenantId(tenant.id),
        max,
        refusal: (wait) => beyondLimit('too_many_invitations', INVITATIONS_LIMIT, max, wait),
      },
      {
        limit: this.#ofReceiver,
        key: `${share} ${email}`,
        max: INVITATIONS_OF_RECEIVER[share],
        refusal: tooMany('too many invitations of this address today'),
      },
      {
        limit: this.#ofNetwork,
        key: networkOf(address),
        max: INVITATIONS_OF_NETWORK,
        refusal: tooMany('too many invitations from your network today'),
      },
    ];
  }
}

/** Who is invited, and the client that asks for it. */
interface Receiver {
  readonly email: string;
  readonly address: string;
}

interface Counted {
  readonly limit: RateLimit;
  readonly key: string;
  readonly max: number;
  readonly refusal: (wait: { readonly retryAfter: number }) => Failure;
}

async function countOne({ limit, key, max, refusal }: Counted): Promise<void> {
  const waitMs = await limit.count(key, max);
  if (waitMs !== undefined) throw refusal({ retryAfter: Math.ceil(waitMs / 1000) });
}

function tooMany(message: string): Counted['refusal'] {
  return (wait) => new Failure('too_many_invitations', { message, ...wait });
}
