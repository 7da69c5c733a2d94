/** What became of usage that a relay reported, or believes to have reported. */
import type { Db } from '../../base/db/pool.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import { type FoundRecord, findRecordsById } from './lookup-records.sql.ts';

export interface LookedUp {
  readonly id: string;
  /** `undefined`: the id was never accepted. The relay may report it. */
  readonly found: FoundRecord | undefined;
}

/** In the order of `ids`. */
export async function lookUpRecords(
  db: Db,
  tenant: TenantId,
  ids: readonly string[],
): Promise<readonly LookedUp[]> {
  const found = await findRecordsById(db, tenant, ids);
  const byId = new Map(found.map((record) => [record.id, record]));
  return ids.map((id) => ({ id, found: byId.get(id) }));
}
