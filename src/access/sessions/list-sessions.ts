/** The sessions of a person, or of a tenant, that work. The last used is first. */
import type { Db } from '../../base/db/pool.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import { ownSessionsOf } from './end-session.ts';
import type { ListedSession, Session } from './session.ts';
import { findSessions } from './sessions.sql.ts';

/** Shown at once. */
export const SESSIONS_LISTED_MAX = 200;

export async function listOwnSessions(
  { db }: { readonly db: Db },
  session: Session,
): Promise<ListedSession[]> {
  return findSessions(db, ownSessionsOf(session), SESSIONS_LISTED_MAX);
}

export async function listSessionsOfTenant(
  { db }: { readonly db: Db },
  tenant: TenantId,
): Promise<ListedSession[]> {
  return findSessions(db, { tenant }, SESSIONS_LISTED_MAX);
}
