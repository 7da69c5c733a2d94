/**
 * Limits how many checkouts are opened at the provider, counted across all processes.
 *
 * The provider accepts a number of calls a second from the whole deployment. A tenant that opened checkouts
 * without end would use them up, and automatic top-ups and look-ups of payments would fail. Tenants that never paid leave
 * a third to the others, because anyone can sign up a thousand of them.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Pool } from '../../base/db/pool.ts';
import { Failure } from '../../base/failure.ts';
import { RateLimit } from '../../base/limits/rate-limit.ts';
import { limitOf, type TenantLimit } from '../../base/tenants/limits.ts';
import type { LimitHolder } from '../../base/tenants/places.sql.ts';
import { renderTenantId } from '../../base/tenants/tenant.ts';

export const CHECKOUTS_LIMIT = {
  name: 'checkouts_per_hour',
  pending: 60,
  active: 60,
  unit: 'checkouts an hour',
} as const satisfies TenantLimit;

const HOUR_SECONDS = 3600;
/** Seconds of the deployment's limit that a checkout waits for at most. A request is answered within 15 s. */
const TURNS_MAX = 5;
/** The part of the checkouts of a second that all tenants that never paid may open together. */
const SHARE_OF_NEVER_PAID = 2 / 3;

export class CheckoutLimit {
  readonly #ofTenant: RateLimit;
  readonly #ofDeployment: RateLimit;
  readonly #perSecond: number;

  /** `perSecond`: checkouts of all tenants together. */
  constructor(pool: Pool, perSecond: number) {
    this.#ofTenant = new RateLimit(pool, { name: 'checkout', seconds: HOUR_SECONDS });
    this.#ofDeployment = new RateLimit(pool, { name: 'checkouts', seconds: 1 });
    this.#perSecond = perSecond;
  }

  /**
   * Count one checkout, and wait for a turn. Throws `too_many_checkouts` beyond the tenant's limit, or if
   * there is no turn within some seconds.
   */
  async count(tenant: LimitHolder): Promise<void> {
    const waitMs = await this.#ofTenant.count(renderTenantId(tenant.id), limitOf(tenant, CHECKOUTS_LIMIT));
    if (waitMs !== undefined)
      throw tooMany('too many checkouts: try again later', waitMs, { limit: CHECKOUTS_LIMIT.name });
    for (let turn = 1; ; turn += 1) {
      const turnMs = await this.#countTurn(tenant);
      if (turnMs === undefined) return;
      if (turn === TURNS_MAX) throw tooMany('too many checkouts at once: try again soon', turnMs);
      await sleep(turnMs);
    }
  }

  /** Returns the milliseconds until there may be a turn; `undefined`: now. What the share refuses uses up no turn of others. */
  async #countTurn({ status }: LimitHolder): Promise<number | undefined> {
    const share = Math.ceil(this.#perSecond * SHARE_OF_NEVER_PAID);
    const waitMs = status === 'pending' ? await this.#ofDeployment.count('never_paid', share) : undefined;
    return waitMs ?? this.#ofDeployment.count('all', this.#perSecond);
  }
}

/** `metadata` names the limit of the tenant; that of the deployment is none of the tenant's. */
function tooMany(message: string, waitMs: number, metadata = {}): Failure {
  return new Failure('too_many_checkouts', {
    message,
    retryAfter: Math.ceil(waitMs / 1000),
    metadata,
  });
}
