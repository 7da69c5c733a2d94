/**
 * Adds up the sums by room, and by room, role and tier, of days, weeks and months that are over.
 *
 * Folding each delta into days and weeks as well would make a charge of many rooms a third dearer. A day that is over is
 * added up once, and changes only if a delta of it is folded later. Until then, its hours are read.
 */
import type { Pool } from '../../base/db/pool.ts';
import { inTransaction } from '../../base/db/transaction.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import { findDueDay, findDueTenants, lockRollUp, rollUp } from './roll-up-usage.sql.ts';
import { ALL_SUMS, type RolledUpSums } from './rolled-up-sums.ts';

const TENANTS_AT_ONCE = 100;

export async function rollUpUsage({ db }: { readonly db: Pool }): Promise<void> {
  for (const sums of ALL_SUMS) {
    let tenants: readonly TenantId[];
    do {
      tenants = await findDueTenants(db, sums, TENANTS_AT_ONCE);
      for (const tenant of tenants) await rollUpDay(db, sums, tenant);
    } while (tenants.length > 0);
  }
}

/** Folding waits for it, so it is one day of one tenant. */
async function rollUpDay(db: Pool, sums: RolledUpSums, tenant: TenantId): Promise<void> {
  await inTransaction(db, async (tx) => {
    await lockRollUp(tx);
    // Another process may have rolled up meanwhile.
    const due = await findDueDay(tx, sums, tenant);
    if (due) await rollUp(tx, sums, tenant, due);
  });
}
