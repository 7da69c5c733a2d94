/**
 * The streams that may be open in this process: of one tenant, and of all. A part of them is for active tenants only,
 * because anyone can sign up tenants that never pay.
 */
import { Failure } from '../../base/failure.ts';
import { type LimitedCaller, limitOfCaller } from '../../base/tenants/limited-caller.ts';
import { beyondLimit, type TenantLimit } from '../../base/tenants/limits.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';

const RETRY = { retryAfter: 5 };

export class OpenStreams {
  readonly #limit: TenantLimit;
  readonly #max: number;
  readonly #reserved: number;
  readonly #perTenant = new Map<TenantId, number>();
  #total = 0;

  /** `reserved` of `max` streams are for active tenants. */
  constructor(limit: TenantLimit, { max, reserved }: { readonly max: number; readonly reserved: number }) {
    this.#limit = limit;
    this.#max = max;
    this.#reserved = reserved;
  }

  /** Count one stream until the returned function is called. Throws `too_many_streams` beyond the limits. */
  enter(caller: LimitedCaller): () => void {
    const { tenant } = caller;
    const count = this.#perTenant.get(tenant) ?? 0;
    const max = limitOfCaller(caller, this.#limit);
    if (count >= max) throw beyondLimit('too_many_streams', this.#limit, max, RETRY);
    const places = isActive(caller) ? this.#max : this.#max - this.#reserved;
    if (this.#total >= places) throw tooManyStreams();
    this.#perTenant.set(tenant, count + 1);
    this.#total += 1;
    return () => this.#leave(tenant);
  }

  #leave(tenant: TenantId): void {
    const count = this.#perTenant.get(tenant)! - 1;
    if (count > 0) this.#perTenant.set(tenant, count);
    else this.#perTenant.delete(tenant);
    this.#total -= 1;
  }
}

export function isActive({ tenantStatus }: LimitedCaller): boolean {
  return tenantStatus === 'active';
}

export function tooManyStreams(): Failure {
  return new Failure('too_many_streams', RETRY);
}
