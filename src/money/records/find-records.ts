/** Finds usage records by their ids, as rows or in the archive. */
import type { Db } from '../../base/db/pool.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import type { ChargedRecord } from './charged-record.ts';
import { findInChunks } from './chunks/read-chunks.ts';
import { findRowsById } from './find-records.sql.ts';
import { findCandidates } from './known-ids/find-candidates.ts';
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
  const candidates = await findCandidates(db, tenant, left.map(hashText));
  return [
    ...rows,
    ...(await findInChunks(
      db,
      tenant,
      chunksById(candidates, (at) => left[at]!),
    )),
  ];
}

/** The numbers of the chunks that may have an id. `idAt`: the id at that place. */
export function chunksById(
  candidates: readonly { readonly at: number; readonly chunk: number }[],
  idAt: (at: number) => string,
): Map<string, number[]> {
  const chunks = new Map<string, number[]>();
  for (const { at, chunk } of candidates) {
    const id = idAt(at);
    chunks.set(id, [...(chunks.get(id) ?? []), chunk]);
  }
  return chunks;
}
