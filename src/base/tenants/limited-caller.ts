/** What authentication tells about the tenant of a caller, as far as limits need it. */
import { Failure, type FailureKind } from '../failure.ts';
import { type LimitName, type LimitOverrides, limitOf, TENANT_LIMITS } from './limits.ts';
import type { TenantId, TenantStatus } from './tenant.ts';

export interface LimitedCaller {
  readonly tenant: TenantId;
  readonly tenantStatus: TenantStatus;
  /** As an operator changed them. */
  readonly tenantLimits: LimitOverrides | null;
}

export function limitOfCaller({ tenantStatus, tenantLimits }: LimitedCaller, name: LimitName): number {
  return limitOf({ status: tenantStatus, limits: tenantLimits }, name);
}

/** A limit on what a tenant does at once: it is worth a retry, unlike one on what it holds. */
export function beyondLimit(kind: FailureKind, name: LimitName, max: number, retryAfter: number): Failure {
  return new Failure(kind, {
    message: `limit reached: at most ${max} ${TENANT_LIMITS[name].unit}`,
    metadata: { limit: name, max: String(max) },
    retryAfter,
  });
}
