/** A tenant, for operators, who name it by its id. */
import type { Db } from '../db/pool.ts';
import { notFound } from '../failure.ts';
import type { LimitedTenant } from './limits.ts';
import type { Tenant, TenantId } from './tenant.ts';
import { findLimits, findTenant } from './tenants.sql.ts';

/** Fails with `not_found`. */
export async function getTenant(db: Db, id: TenantId): Promise<Tenant> {
  const tenant = await findTenant(db, id);
  if (!tenant) throw notFound('tenant');
  return tenant;
}

/** What decides about the limits of the tenant. */
export async function getLimits(db: Db, { id, status }: Tenant): Promise<LimitedTenant> {
  return { status, limits: (await findLimits(db, id)) ?? null };
}
