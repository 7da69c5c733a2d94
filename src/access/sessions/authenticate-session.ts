/** The session behind a secret. Every check asks the database, so a session that ended is refused everywhere at once. */
import type { Db } from '../../base/db/pool.ts';
import { type Ability, mayDo } from '../rights/abilities.ts';
import { hashSecret, type Session } from './session.ts';
import { findClosedSession, findRoleOfSession, findSession } from './sessions.sql.ts';

/** `undefined`: there is none, or it is over. `isUse`: a person asks, so that the session goes on for longer. */
export async function authenticateSession(
  { db }: { readonly db: Db },
  secret: string,
  { isUse = true }: { readonly isUse?: boolean } = {},
): Promise<Session | undefined> {
  return findSession(db, hashSecret(secret), isUse);
}

/** The session of a person whose tenant is suspended or archived. It opens nothing but the page that says so. */
export async function findClosedTenant(
  { db }: { readonly db: Db },
  secret: string,
): Promise<Session | undefined> {
  return findClosedSession(db, hashSecret(secret));
}

/** Whether a session works still in the role that it had, and may do this; without `ability`, anything. It does not count as a use. */
export async function maySessionStill(
  { db }: { readonly db: Db },
  { hash, role: before }: Session,
  ability: Ability | undefined,
): Promise<boolean> {
  const role = await findRoleOfSession(db, hash);
  return role === before && (ability === undefined || mayDo(role, ability));
}
