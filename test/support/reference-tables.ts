/** Changes of tables of which every server of a cluster has a copy. */
import type { Pool } from '../../src/base/db/pool.ts';
import { lockReferenceTables } from '../../src/base/db/reference-tables.sql.ts';
import { inTransaction } from '../../src/base/db/transaction.ts';

/** Run a statement that changes such a table while a service does the same. */
export async function changeReferenceTable(
  db: Pool,
  statement: string,
  values: readonly unknown[],
): Promise<void> {
  await inTransaction(db, async (tx) => {
    await lockReferenceTables(tx);
    await tx.query(statement, [...values]);
  });
}
