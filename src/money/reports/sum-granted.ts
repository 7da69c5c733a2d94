/** What of the credit of tenants was granted, at both ends of a month. */
import type { Db } from '../../base/db/pool.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import { listTenantsWithGrants } from '../grants/grants.sql.ts';
import { readLots } from '../grants/read-lots.ts';
import { findPostedBalance } from '../ledger/posted-balance.sql.ts';
import { endOf, type Month, startOf } from '../month.ts';

/** Micros. */
export interface GrantedSums {
  readonly opening: bigint;
  readonly closing: bigint;
}

export async function sumGranted(db: Db, month: Month, tenant: TenantId | undefined): Promise<GrantedSums> {
  const [from, to] = [startOf(month), endOf(month)];
  let [opening, closing] = [0n, 0n];
  for (const each of await listTenantsWithGrants(db, { from, to, tenant })) {
    opening += await grantedAt(db, each, from);
    closing += await grantedAt(db, each, to);
  }
  return { opening, closing };
}

async function grantedAt(db: Db, tenant: TenantId, at: Date): Promise<bigint> {
  const { seq } = await findPostedBalance(db, tenant, at);
  return (await readLots(db, tenant, { at, seq })).granted;
}
