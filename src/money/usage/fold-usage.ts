/**
 * Adds what charges left in `usage_deltas` to the sums of usage by hour.
 *
 * A charge appends its delta and waits for no sum. Whoever reads sums adds the deltas that are left, so it makes no
 * difference when they are folded.
 */
import type { Pool } from '../../base/db/pool.ts';
import { repeatOnConflict } from '../../base/db/transaction.ts';
import { foldDeltas } from './fold-usage.sql.ts';

const AT_ONCE = 1_000;

export async function foldUsage({ db }: { readonly db: Pool }): Promise<void> {
  while ((await repeatOnConflict(() => foldDeltas(db, AT_ONCE))) === AT_ONCE);
}
