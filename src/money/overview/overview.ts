/** What operators look at: tenants, and the payments of all of them. */
import type { Db } from '../../base/db/pool.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import { listParked } from '../parked/list-parked.ts';
import type { AttemptState } from '../top-ups/attempt.ts';
import { findOwners } from './find-owners.sql.ts';
import { findTenants, type TenantFilter, type TenantLine } from './overview.sql.ts';
import { listAttempts, listDisputes, listFraudWarnings } from './payment-lists.sql.ts';

export type { TenantLine };

/**
 * In the order of `findTenants()`. Names are searched only if the text is no id that belongs to a tenant; an address may be a member's and
 * that of other tenants.
 */
export async function listTenants(db: Db, { search, ...wanted }: TenantFilter): Promise<TenantLine[]> {
  const among = search === undefined ? undefined : await findOwners(db, search);
  const isId = among !== undefined && among.length > 0 && !search!.includes('@');
  return findTenants(db, { ...wanted, text: isId ? undefined : search, among });
}

/** Up to `limit` of each. Only automatic top-ups and disputes are those of `tenant`, and only top-ups those in `state`. */
export async function getPaymentsOverview(
  db: Db,
  {
    tenant,
    state,
    limit,
  }: {
    readonly tenant: TenantId | undefined;
    readonly state: AttemptState | undefined;
    readonly limit: number;
  },
) {
  return {
    parked: await listParked(db, limit),
    attempts: await listAttempts(db, { tenant, state, limit }),
    disputes: await listDisputes(db, { tenant, limit }),
    warnings: await listFraudWarnings(db, limit),
  };
}
