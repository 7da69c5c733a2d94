/** The sessions of a tenant, those that began last first. */
import { prepareUsername } from '../../access/usernames/username.ts';
import type { Db } from '../../base/db/pool.ts';
import { type Page, readPage } from '../../base/lib/page.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import type { ListedSession, SessionFilter, SessionPlace } from './session.ts';
import { findSessions } from './sessions.sql.ts';

/** The filter finds `ann` by `Ann`, too. */
export function listSessions(
  db: Db,
  tenant: TenantId,
  { participant: name, ...others }: SessionFilter,
  after: SessionPlace | null,
  size: number,
): Promise<Page<ListedSession>> {
  const participant = name && (prepareUsername(name) ?? name);
  const filter = { ...others, participant };
  return readPage(size, (limit) => findSessions(db, tenant, filter, { after, limit }));
}
