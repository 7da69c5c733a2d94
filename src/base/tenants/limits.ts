/**
 * What one tenant may hold or do at once, so that no tenant takes what the others need.
 *
 * A tenant that never paid has small limits, because anyone can sign up. An operator may change each limit
 * of one tenant (`npm run admin -- tenants limits`). Documented in `docs/limits.md`.
 */
import { Failure, type FailureKind } from '../failure.ts';
import type { BaseMetrics } from '../telemetry/metrics.ts';
import type { TenantStatus } from './tenant.ts';

/** A limit, as its feature declares it beside its noun. `src/doors/tenant-limits.ts` lists all of them. */
export interface TenantLimit {
  /** As operators and failures name it. */
  readonly name: string;
  /** While the tenant never paid. */
  readonly pending: number;
  /** From the first payment on. */
  readonly active: number;
  /** What is counted, as messages name it. */
  readonly unit: string;
}

/** What an operator changed for one tenant, by the names of limits. */
export type LimitOverrides = Readonly<Partial<Record<string, number>>>;

/** What an operator may set a limit to, at least and at most. */
export const LIMIT_MIN = 1;
export const LIMIT_MAX = 1_000_000;

/** `undefined`: it is no whole number from `LIMIT_MIN` to `LIMIT_MAX`. */
export function parseLimit(text: string): number | undefined {
  const limit = /^[0-9]{1,7}$/.test(text) ? Number(text) : 0;
  return limit >= LIMIT_MIN && limit <= LIMIT_MAX ? limit : undefined;
}

/** One limit that an operator changed; `null`: what every tenant of the status has. */
export interface LimitChange {
  readonly name: string;
  readonly from: number | null;
  readonly to: number | null;
}

/** What decides about the limits of one tenant. */
export interface LimitedTenant {
  readonly status: TenantStatus;
  /** `null`: an operator changed nothing. */
  readonly limits: LimitOverrides | null;
}

export function limitOf({ status, limits }: LimitedTenant, limit: TenantLimit): number {
  return limits?.[limit.name] ?? limit[status === 'pending' ? 'pending' : 'active'];
}

/**
 * Fails with `quota_exceeded` if the tenant already holds as many as it may. `unit` is what `held` counts.
 */
export function assertBelowLimit(
  tenant: LimitedTenant,
  limit: TenantLimit,
  held: number,
  unit: string = limit.unit,
): void {
  const max = limitOf(tenant, limit);
  if (held < max) return;
  throw beyondLimit('quota_exceeded', limit, max, { unit });
}

/**
 * The failure of a request beyond a limit, which it names. A limit on what a tenant does at once is worth a
 * retry after some seconds, unlike one on what it holds.
 */
export function beyondLimit(
  kind: FailureKind,
  limit: TenantLimit,
  max: number,
  { unit = limit.unit, ...retry }: { readonly unit?: string; readonly retryAfter?: number },
): Failure {
  return new Failure(kind, {
    message: `limit reached: at most ${max} ${unit}`,
    metadata: { limit: limit.name, max: String(max) },
    ...retry,
  });
}

/** Count a request that failed because of a limit. Such a failure names it in its metadata. */
export function countLimitRefusal(metrics: BaseMetrics, error: unknown): void {
  const limit = error instanceof Failure ? error.metadata.limit : undefined;
  if (limit !== undefined) metrics.limitRefusals.inc({ limit });
}
