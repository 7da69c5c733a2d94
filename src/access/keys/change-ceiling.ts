/** Change the ceiling of a key: the most that tokens minted with it may carry. */
import type { Actor } from '../../base/audit/actor.ts';
import { appendAudit } from '../../base/audit/append-audit.sql.ts';
import type { Pool } from '../../base/db/pool.ts';
import { inTransaction } from '../../base/db/transaction.ts';
import { notFound } from '../../base/failure.ts';
import type { KeyCeiling } from '../rights/key-ceiling.ts';
import { ceilingEntry } from './key-audit.ts';
import { lockCeiling, updateCeiling } from './keys.sql.ts';

/**
 * Returns the resulting ceiling. An empty change only reads it. Fails with `not_found`.
 *
 * Keys created with this one, or that replaced it, keep their own ceilings.
 */
export async function changeCeiling(
  db: Pool,
  actor: Actor,
  keyId: string,
  change: Partial<KeyCeiling>,
): Promise<KeyCeiling> {
  return inTransaction(db, async (tx) => {
    const locked = await lockCeiling(tx, keyId);
    if (!locked) throw notFound('key');
    const { tenant, ...current } = locked;
    const ceiling = { ...current, ...change };
    const entry = ceilingEntry(keyId, current, ceiling);
    if (entry) {
      await updateCeiling(tx, keyId, ceiling);
      await appendAudit(tx, tenant, actor, entry);
    }
    return ceiling;
  });
}
