/** Recompute every charge of a database, as `verify` does. */
import type { Pool } from '../../src/base/db/pool.ts';
import { inTransaction } from '../../src/base/db/transaction.ts';
import type { AuditRules } from '../../src/money/audit/audit-rules.ts';
import { Recomputation } from '../../src/money/audit/recompute-charges.ts';
import { type Difference, readCharges } from '../../src/money/audit/verify.sql.ts';

/** The differences, optionally with other rules than the service has. */
export async function recomputeCharges(pool: Pool, rules?: AuditRules): Promise<Difference[]> {
  return inTransaction(pool, async (tx) => {
    const recomputation = new Recomputation(tx, rules);
    const found: (Difference | undefined)[] = [];
    for await (const records of readCharges(tx)) {
      for (const record of records) found.push(await recomputation.add(record));
    }
    found.push(recomputation.finish());
    return found.filter((difference) => difference !== undefined);
  });
}
