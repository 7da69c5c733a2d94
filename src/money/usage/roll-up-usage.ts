/**
 * Adds up the sums by room of days and weeks that are over.
 *
 * Folding each delta into days and weeks as well would make a charge of many rooms a third dearer. A day that is over is
 * added up once, and changes only if a delta of it is folded later. Until then, its hours are read.
 */
import type { Pool } from '../../base/db/pool.ts';
import { inTransaction } from '../../base/db/transaction.ts';
import { findDueDays, lockRollUp, rollUp } from './roll-up-usage.sql.ts';

/** Tenants in a transaction, for which folding waits. */
const AT_ONCE = 10;

export async function rollUpUsage({ db }: { readonly db: Pool }): Promise<void> {
  while ((await findDueDays(db, 1)).length > 0) {
    await inTransaction(db, async (tx) => {
      await lockRollUp(tx);
      // Another process may have rolled up meanwhile.
      await rollUp(tx, await findDueDays(tx, AT_ONCE));
    });
  }
}
