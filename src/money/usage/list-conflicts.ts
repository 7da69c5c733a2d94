/** Ids that relays reported again with other values, the newest report first. */
import type { Db } from '../../base/db/pool.ts';
import { readPage } from '../../base/lib/page.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import { findRecordsById } from '../records/find-records.ts';
import { type Conflict, type ConflictLine, type ConflictPlace, reportOf } from './conflict.ts';
import { findConflicts, findConflictTenants } from './conflicts.sql.ts';

export interface ConflictPage {
  readonly conflicts: readonly Conflict[];
  /** `undefined`: there are no further ones. */
  readonly place: ConflictPlace | undefined;
}

/** `after` is the `place` of the page before. */
export async function listConflicts(
  db: Db,
  tenant: TenantId,
  { after, size }: { readonly after?: ConflictPlace | undefined; readonly size: number },
): Promise<ConflictPage> {
  const { items, end } = await readPage(size, (limit) => findConflicts(db, tenant, { after, limit }));
  const records = await findRecordsById(
    db,
    tenant,
    items.map(({ id }) => id),
  );
  const byId = new Map(records.map((record) => [record.id, record]));
  const conflicts = items.map((each) => ({ ...each, accepted: reportOf(byId.get(each.id)) }));
  return { conflicts, place: end?.place };
}

/** Up to `limit` tenants, those with the newest conflicts first. */
export function listConflictTenants(db: Db, limit: number): Promise<ConflictLine[]> {
  return findConflictTenants(db, limit);
}
