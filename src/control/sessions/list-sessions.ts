/** The sessions of a tenant, those that began last first. */
import type { Db } from '../../base/db/pool.ts';
import { type Page, readPage } from '../../base/lib/page.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import type { ListedSession, SessionFilter, SessionPlace } from './session.ts';
import { findSessions } from './sessions.sql.ts';

export function listSessions(
  db: Db,
  tenant: TenantId,
  filter: SessionFilter,
  after: SessionPlace | null,
  size: number,
): Promise<Page<ListedSession>> {
  return readPage(size, (limit) => findSessions(db, tenant, filter, { after, limit }));
}
