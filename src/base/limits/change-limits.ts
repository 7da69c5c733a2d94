/** Change limits of one tenant, as an operator. */
import type { Actor } from '../audit/actor.ts';
import { appendAudit } from '../audit/append-audit.sql.ts';
import type { Pool } from '../db/pool.ts';
import { inTransaction } from '../db/transaction.ts';
import { notFound } from '../failure.ts';
import type { LimitChange, LimitedTenant, LimitOverrides } from '../tenants/limits.ts';
import { renderTenantId, type TenantId } from '../tenants/tenant.ts';
import { findLimits, lockTenant, updateLimits } from '../tenants/tenants.sql.ts';

export interface WantedLimits {
  readonly set: LimitOverrides;
  /** Back to what every tenant of the status has. */
  readonly reset: readonly string[];
  readonly reason: string | undefined;
}

/**
 * Returns what decides about the limits from now on. An empty change only reads it. Fails with `not_found`.
 *
 * Calls that were authenticated before keep the old limits. A tenant that is beyond a lower limit keeps what
 * it has.
 */
export async function changeLimits(
  db: Pool,
  actor: Actor,
  id: TenantId,
  { set, reset, reason }: WantedLimits,
): Promise<LimitedTenant> {
  return inTransaction(db, async (tx) => {
    const tenant = await lockTenant(tx, id);
    if (!tenant) throw notFound('tenant');
    const before = (await findLimits(tx, id)) ?? {};
    const limits = { ...withoutNames(before, reset), ...set };
    const changes = changesBetween(before, limits);
    if (changes.length > 0) {
      await updateLimits(tx, id, { limits, changes, reason });
      await appendAudit(tx, id, actor, {
        action: 'tenant_limits_changed',
        subject: renderTenantId(id),
        before: Object.fromEntries(changes.map(({ name, from }) => [name, from])),
        after: Object.fromEntries(changes.map(({ name, to }) => [name, to])),
      });
    }
    return { status: tenant.status, limits };
  });
}

function withoutNames(limits: LimitOverrides, names: readonly string[]): LimitOverrides {
  return Object.fromEntries(Object.entries(limits).filter(([name]) => !names.includes(name)));
}

function changesBetween(before: LimitOverrides, after: LimitOverrides): LimitChange[] {
  const names = Object.keys({ ...before, ...after });
  return names
    .filter((name) => before[name] !== after[name])
    .map((name) => ({ name, from: before[name] ?? null, to: after[name] ?? null }));
}
