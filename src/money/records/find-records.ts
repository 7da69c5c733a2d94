/** Finds usage records by their ids, as rows or in the archive. */
import type { Db } from '../../base/db/pool.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import type { ChargedRecord } from './charged-record.ts';
import { findInChunks } from './chunks/read-chunks.ts';
import { findRowsById } from './find-records.sql.ts';
import { findChunkNumbers } from './known-ids/find-chunk-numbers.ts';
import { hashText } from './known-ids/id-hash.ts';

/** In no order. Ids that were never accepted are left out. */
export async function findRecordsById(
  db: Db,
  tenant: TenantId,
  ids: readonly string[],
): Promise<ChargedRecord[]> {
  if (ids.length === 0) return [];
  const rows = await findRowsById(db, tenant, ids);
  const found = new Set(rows.map(({ id }) => id));
  // A row that has gone since is found in the archive.
  const left = [...new Set(ids)].filter((id) => !found.has(id));
  const chunks = await findChunkNumbers(db, tenant, left.map(hashText));
  const numbers = new Set([...chunks.values()].flat());
  return [...rows, ...(await findInChunks(db, tenant, new Set(left), numbers))];
}
