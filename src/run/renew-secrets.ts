/**
 * Seals again with SECRETS_KEY what another key has sealed, while processes serve that open both.
 *
 * Each value is replaced by itself, if it is still the same. So it can end anywhere, and begins again with what is left.
 */
import type { Pool } from '../base/db/pool.ts';
import { lockReferenceTables } from '../base/db/reference-tables.sql.ts';
import { inTransaction } from '../base/db/transaction.ts';
import type { SecretBox } from '../base/lib/secret-box.ts';
import { findSealedRows, replaceSealed, SEALED_COLUMNS, type SealedRow } from './sealed-columns.sql.ts';

export interface Renewed {
  readonly table: string;
  readonly sealed: number;
  readonly renewed: number;
  /** Neither key opens them. */
  readonly lost: number;
}

/** Rows of a transaction. */
const ROWS = 100;

export async function renewSecrets(db: Pool, box: SecretBox, at: (what: string) => void): Promise<Renewed[]> {
  const found: Renewed[] = [];
  for (const column of SEALED_COLUMNS) found.push(await renewColumn(db, box, column, at));
  return found;
}

async function renewColumn(
  db: Pool,
  box: SecretBox,
  column: (typeof SEALED_COLUMNS)[number],
  at: (what: string) => void,
): Promise<Renewed> {
  const { table } = column;
  let [sealed, renewed, lost] = [0, 0, 0];
  let rows: SealedRow[] = [];
  do {
    rows = await findSealedRows(db, column, rows.at(-1), ROWS);
    const again = rows.flatMap((row) => {
      const value = sealAgain(box, row.sealed_value, column.contextOf(row));
      if (value === 'lost') lost += 1;
      return value instanceof Buffer ? [{ row, sealed: value }] : [];
    });
    if (again.length > 0) {
      renewed += await inTransaction(db, async (tx) => {
        await lockReferenceTables(tx);
        return replaceSealed(tx, column, again);
      });
    }
    sealed += rows.length;
    at(`${table}: ${renewed} of ${sealed} sealed again`);
  } while (rows.length === ROWS);
  return { table, sealed, renewed, lost };
}

function sealAgain(box: SecretBox, sealed: Buffer, context: string): Buffer | 'renewed' | 'lost' {
  if (box.isSealedByKey(sealed, context)) return 'renewed';
  try {
    return box.seal(box.open(sealed, context), context);
  } catch {
    return 'lost';
  }
}
