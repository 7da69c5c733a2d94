/** A user may not enter under a name that looks like that of a present user, where `CONFUSABLE_USERNAMES` says so. */
import type { Tx } from '../../base/db/pool.ts';
import { Failure } from '../../base/failure.ts';
import { hasLookalike } from './admissions.sql.ts';

/** The room must be locked. */
export async function refuseLookalike(tx: Tx, admission: Parameters<typeof hasLookalike>[1]): Promise<void> {
  if (await hasLookalike(tx, admission)) throw new Failure('username_confusable', { field: 'username' });
}
