/**
 * What one tenant may hold or do at once, so that no tenant takes what the others need.
 *
 * A tenant that never paid has small limits, because anyone can sign up. An operator may change each limit
 * of one tenant (`npm run admin -- tenants limits`). Documented in `docs/limits.md`.
 */
import { Failure, type FailureKind } from '../failure.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import type { TenantStatus } from './tenant.ts';

interface TenantLimit {
  /** While the tenant never paid. */
  readonly pending: number;
  /** From the first payment on. */
  readonly active: number;
  /** What is counted, as messages name it. */
  readonly unit: string;
}

export const TENANT_LIMITS = {
  event_streams: { pending: 5, active: 100, unit: 'open event streams' },
  calls_in_flight: { pending: 8, active: 8, unit: 'calls at the same time' },
  key_requests_per_minute: { pending: 12_000, active: 60_000, unit: 'requests a minute with one API key' },
  checkouts_per_hour: { pending: 60, active: 60, unit: 'checkouts an hour' },
  invitations_per_day: { pending: 5, active: 50, unit: 'invitations a day' },
  api_keys: { pending: 10, active: 100, unit: 'live API keys' },
  device_credentials: { pending: 100, active: 1_000, unit: 'live device credentials' },
  rooms: { pending: 1_000, active: 10_000, unit: 'live rooms' },
  room_watchdogs: { pending: 2, active: 20, unit: 'waiting watchdogs of one room' },
  watchdogs: { pending: 1_000, active: 10_000, unit: 'waiting watchdogs' },
  bans: { pending: 1_000, active: 10_000, unit: 'active bans' },
} as const satisfies Record<string, TenantLimit>;

export type LimitName = keyof typeof TENANT_LIMITS;

/** What an operator changed for one tenant. */
export type LimitOverrides = Readonly<Partial<Record<LimitName, number>>>;

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
  readonly name: LimitName;
  readonly from: number | null;
  readonly to: number | null;
}

/** What decides about the limits of one tenant. */
export interface LimitedTenant {
  readonly status: TenantStatus;
  /** `null`: an operator changed nothing. */
  readonly limits: LimitOverrides | null;
}

export const LIMIT_NAMES = Object.keys(TENANT_LIMITS) as LimitName[];

export function limitOf({ status, limits }: LimitedTenant, name: LimitName): number {
  return limits?.[name] ?? TENANT_LIMITS[name][status === 'pending' ? 'pending' : 'active'];
}

/**
 * Fails with `quota_exceeded` if the tenant already holds as many as it may. `unit` is what `held` counts.
 */
export function assertBelowLimit(
  tenant: LimitedTenant,
  name: LimitName,
  held: number,
  unit: string = TENANT_LIMITS[name].unit,
): void {
  const max = limitOf(tenant, name);
  if (held < max) return;
  throw beyondLimit('quota_exceeded', name, max, { unit });
}

/**
 * The failure of a request beyond a limit, which it names. A limit on what a tenant does at once is worth a
 * retry after some seconds, unlike one on what it holds.
 */
export function beyondLimit(
  kind: FailureKind,
  name: LimitName,
  max: number,
  { unit = TENANT_LIMITS[name].unit, ...retry }: { readonly unit?: string; readonly retryAfter?: number },
): Failure {
  return new Failure(kind, {
    message: `limit reached: at most ${max} ${unit}`,
    metadata: { limit: name, max: String(max) },
    ...retry,
  });
}

/** Count a request that failed because of a limit. Such a failure names it in its metadata. */
export function countLimitRefusal(metrics: Metrics, error: unknown): void {
  const limit = error instanceof Failure ? error.metadata.limit : undefined;
  if (limit !== undefined) metrics.limitRefusals.inc({ limit });
}
