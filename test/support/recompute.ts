/** Recompute every charge of a database, as `verify` does. */
import type { Pool } from '../../src/base/db/pool.ts';
import { inTransaction } from '../../src/base/db/transaction.ts';
import { readRecords } from '../../src/money/records/read-records.ts';
import { Recomputation } from '../../src/money/verification/recompute-charges.ts';
import type { RecomputeRules } from '../../src/money/verification/recompute-rules.ts';
import type { Difference } from '../../src/money/verification/verify.sql.ts';

/** The differences, optionally with other rules than the service has. */
export async function recomputeCharges(pool: Pool, rules?: RecomputeRules): Promise<Difference[]> {
  return inTransaction(pool, async (tx) => {
    const recomputation = new Recomputation(tx, rules);
    const found: (Difference | undefined)[] = [];
    for await (const records of readRecords(tx)) {
      for (const record of records) found.push(await recomputation.add(record));
    }
    found.push(recomputation.finish());
    return found.filter((difference) => difference !== undefined);
  });
}
