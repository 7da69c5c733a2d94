/** Changes of tables of which every server of a cluster has a copy. */
import type pg from 'pg';
import type { Pool } from '../../src/base/db/pool.ts';
import { lockReferenceTables } from '../../src/base/db/reference-tables.sql.ts';
import { inTransaction } from '../../src/base/db/transaction.ts';

/** Run a statement that changes such a table while a service does the same. Returns its rows. */
export function changeReferenceTable<Row extends pg.QueryResultRow>(
  db: Pool,
  statement: string,
  values: readonly unknown[],
): Promise<readonly Row[]> {
  return inTransaction(db, async (tx) => {
    await lockReferenceTables(tx);
    return (await tx.query<Row>(statement, [...values])).rows;
  });
}
