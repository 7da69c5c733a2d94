/** The audit trail, newest first. */
import type { Db } from '../db/pool.ts';
import { type Page, readPage } from '../lib/page.ts';
import type { TenantId } from '../tenants/tenant.ts';
import {
  type AuditFilter,
  findAuditEntries,
  findAuditEntriesOfAll,
  type OperatorFilter,
} from './audit-entries.sql.ts';
import type { AuditEntry } from './audit-entry.ts';

/** Entries at once: at most, and unless the request says otherwise. */
export const AUDIT_PAGE_MAX = 1_000;
export const AUDIT_PAGE_USUAL = 100;

export interface AuditList extends AuditFilter {
  /** The id of the last entry of the previous page. */
  readonly after?: string | undefined;
  readonly size: number;
}

/** Returns `undefined` if no entry comes after `after`. */
export async function listAudit(
  db: Db,
  tenant: TenantId,
  { size, ...asked }: AuditList,
): Promise<Page<AuditEntry> | undefined> {
  const page = await readPage(size, (limit) => findAuditEntries(db, tenant, { ...asked, limit }));
  // Entries are never deleted, so at least one comes after the end of a page.
  return asked.after !== undefined && page.items.length === 0 ? undefined : page;
}

/** For operators: the trail of one tenant, or of all of them and the whole deployment. */
export function listAuditOfAll(db: Db, filter: OperatorFilter): Promise<AuditEntry[]> {
  return findAuditEntriesOfAll(db, filter);
}
