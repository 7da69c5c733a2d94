/**
 * Limits the requests of one person to the consoles, over all sessions and counted across all processes: against a program
 * that repeats itself without end. What open pages ask by themselves counts too.
 */
import type { Pool } from '../../base/db/pool.ts';
import { Failure } from '../../base/failure.ts';
import { RateLimit } from '../../base/limits/rate-limit.ts';
import { limitOfCaller } from '../../base/tenants/limited-caller.ts';
import { beyondLimit, type TenantLimit } from '../../base/tenants/limits.ts';
import { renderTenantId } from '../../base/tenants/tenant.ts';
import type { Session } from './session.ts';

/** A page of a busy room alone asks twice a second. */
export const CONSOLE_REQUESTS_LIMIT = {
  name: 'console_requests_per_minute',
  pending: 600,
  active: 600,
  unit: 'requests a minute of one person at the console',
} as const satisfies TenantLimit;

export const OPERATOR_REQUESTS_PER_MINUTE = 600;

export class RequestLimit {
  readonly #requests: RateLimit;

  constructor(db: Pool) {
    this.#requests = new RateLimit(db, { name: 'console_requests', seconds: 60 });
  }

  /** Count one request of a member, of a key or of an operator at a tenant. Throws `too_many_requests` beyond the limit. */
  async count(session: Session): Promise<void> {
    const { tenant, member, keyId, operator } = session;
    const max = limitOfCaller(session, CONSOLE_REQUESTS_LIMIT);
    const who = member?.id ?? keyId ?? operator;
    const waitMs = await this.#requests.count(`${renderTenantId(tenant)} ${who}`, max);
    if (waitMs !== undefined)
      throw beyondLimit('too_many_requests', CONSOLE_REQUESTS_LIMIT, max, { retryAfter: secondsOf(waitMs) });
  }

  /** The same at the console of operators. */
  async countOfOperator(operator: string): Promise<void> {
    const waitMs = await this.#requests.count(`operator ${operator}`, OPERATOR_REQUESTS_PER_MINUTE);
    if (waitMs === undefined) return;
    const message = `limit reached: at most ${OPERATOR_REQUESTS_PER_MINUTE} requests a minute of one operator`;
    throw new Failure('too_many_requests', { message, retryAfter: secondsOf(waitMs) });
  }
}

function secondsOf(waitMs: number): number {
  return Math.max(1, Math.ceil(waitMs / 1000));
}
