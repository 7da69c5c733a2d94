/** Change what tokens that are minted with a key may carry at most. */
import type { Pool } from '../../base/db/pool.ts';
import { inTransaction } from '../../base/db/transaction.ts';
import { Failure } from '../../base/failure.ts';
import type { KeyCeiling } from '../rights/key-ceiling.ts';
import { lockCeiling, updateCeiling } from './keys.sql.ts';

/**
 * Returns the ceiling as it is then; without a change, as it is. Fails with `not_found`.
 *
 * Keys that were made with this one, or replaced it, have ceilings of their own and keep them.
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
