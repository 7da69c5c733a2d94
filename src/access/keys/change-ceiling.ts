/** Change the ceiling of a key: the most that tokens minted with it may carry. */
import type { Pool } from '../../base/db/pool.ts';
import { inTransaction } from '../../base/db/transaction.ts';
import { Failure } from '../../base/failure.ts';
import type { KeyCeiling } from '../rights/key-ceiling.ts';
import { lockCeiling, updateCeiling } from './keys.sql.ts';

/**
 * Returns the resulting ceiling. An empty change only reads it. Fails with `not_found`.
 *
 * Keys created with this one, or that replaced it, keep their own ceilings.
 */
export async function changeCeiling(
  db: Pool,
  keyId: string,
  change: Partial<KeyCeiling>,
): Promise<KeyCeiling> {
  return inTransaction(db, async (tx) => {
    const current = await lockCeiling(tx, keyId);
    if (!current) throw new Failure('not_found');
    const ceiling = { ...current, ...change };
    if (Object.keys(change).length > 0) await updateCeiling(tx, keyId, ceiling);
    return ceiling;
  });
}
