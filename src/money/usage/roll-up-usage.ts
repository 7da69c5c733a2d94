/**
 * Adds up the sums by room, and by room, role and tier, of days, weeks and months that are over.
 *
 * Folding each delta into days and weeks as well would make a charge of many rooms a third dearer. A day that is over is
 * added up once, and changes only if a delta of it is folded later. Until then, its hours are read.
 */
import type { Pool } from '../../base/db/pool.ts';
import { inTransaction } from '../../base/db/transaction.ts';
import type { BaseDeps } from '../../base/deps.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import { TenantTurns } from '../../base/tenants/tenant-turns.ts';
import { findDueDay, findDueTenants, lockRollUp, rollUp } from './roll-up-usage.sql.ts';
import { ALL_SUMS, type RolledUpSums } from './rolled-up-sums.ts';

const TENANTS_AT_ONCE = 100;

/** In the log. */
const JOB = 'rolling up usage';

type RollUpDeps = Pick<BaseDeps, 'db' | 'log'>;

/** A job that is run every few minutes. */
export function rollingUpUsage(deps: RollUpDeps): () => Promise<void> {
  const turns = new TenantTurns(deps.log, JOB);
  return () => rollUpUsage(deps, turns);
}

/** A tenant with more rooms in a day than the database adds up in time does not keep the others from it. */
export async function rollUpUsage({ db, log }: RollUpDeps, turns = new TenantTurns(log, JOB)): Promise<void> {
  for (const sums of ALL_SUMS) {
    let tenants: readonly TenantId[];
    do {
      tenants = await findDueTenants(db, sums, TENANTS_AT_ONCE, turns.leftOut());
      for (const tenant of tenants) await turns.take(tenant, () => rollUpDay(db, sums, tenant));
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
