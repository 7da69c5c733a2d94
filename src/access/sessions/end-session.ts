/** Log out. */
import type { Db } from '../../base/db/pool.ts';
import type { Session } from './session.ts';
import { deleteSession } from './sessions.sql.ts';

/** The session is refused by every process from now on. */
export async function endSession({ db }: { readonly db: Db }, { hash }: Session): Promise<void> {
  await deleteSession(db, hash);
}
