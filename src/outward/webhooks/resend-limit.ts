/**
 * Limits how often a tenant has its webhooks go back, or try again what failed, counted across all processes: each time, up to all
 * events that are kept are sent once more, with a row of the log each.
 */
import type { Pool } from '../../base/db/pool.ts';
import { RateLimit } from '../../base/limits/rate-limit.ts';
import { type LimitedCaller, limitOfCaller } from '../../base/tenants/limited-caller.ts';
import { beyondLimit, type TenantLimit } from '../../base/tenants/limits.ts';
import { renderTenantId } from '../../base/tenants/tenant.ts';

export const RESENDS_LIMIT = {
  name: 'resends_per_hour',
  pending: 20,
  active: 1_000,
  unit: 'times an hour that webhooks send again what happened since a time',
} as const satisfies TenantLimit;

const HOUR_SECONDS = 3_600;

export class ResendLimit {
  readonly #resends: RateLimit;

  constructor(db: Pool) {
    this.#resends = new RateLimit(db, { name: 'resends', seconds: HOUR_SECONDS });
  }

  /** Count one. Throws `too_many_requests` beyond the limit. */
  async count(caller: LimitedCaller): Promise<void> {
    const max = limitOfCaller(caller, RESENDS_LIMIT);
    const waitMs = await this.#resends.count(renderTenantId(caller.tenant), max);
    if (waitMs === undefined) return;
    throw beyondLimit('too_many_requests', RESENDS_LIMIT, max, { retryAfter: Math.ceil(waitMs / 1_000) });
  }
}
