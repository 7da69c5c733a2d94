/** What authentication tells about the tenant of a caller, as far as limits need it. */
import { type LimitOverrides, limitOf, type TenantLimit } from './limits.ts';
import type { LimitHolder } from './places.sql.ts';
import type { TenantId, TenantStatus } from './tenant.ts';

export interface LimitedCaller {
  readonly tenant: TenantId;
  readonly tenantStatus: TenantStatus;
  /** As an operator changed them; read them with `limitOfCaller()`. */
  readonly tenantLimits: LimitOverrides | null;
}

/** The caller's tenant, whose limits apply to what the caller creates. */
export function limitHolderOf({ tenant, tenantStatus, tenantLimits }: LimitedCaller): LimitHolder {
  return { id: tenant, status: tenantStatus, limits: tenantLimits };
}

export function limitOfCaller(caller: LimitedCaller, limit: TenantLimit): number {
  return limitOf(limitHolderOf(caller), limit);
}
