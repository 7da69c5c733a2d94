/** The session behind a secret. Every check asks the database, so a session that ended is refused everywhere at once. */
import type { Db } from '../../base/db/pool.ts';
import { hashSecret, type Session } from './session.ts';
import { findSession } from './sessions.sql.ts';

/** `undefined`: there is none, or it is over. */
export async function authenticateSession(
  { db }: { readonly db: Db },
  secret: string,
): Promise<Session | undefined> {
  return findSession(db, hashSecret(secret));
}
