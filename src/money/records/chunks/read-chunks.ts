/** Reads archived records. A chunk is unpacked as a whole, one at a time. */
import type { Db } from '../../../base/db/pool.ts';
import type { TenantId } from '../../../base/tenants/tenant.ts';
import type { ChargedRecord } from '../charged-record.ts';
import { findChunk, findChunkFrom } from './chunks.sql.ts';

/** The archived records of these postings that are wanted, newest first. At most `limit`; without one, all. */
export async function findInPostings(
  db: Db,
  tenant: TenantId,
  seqs: readonly bigint[],
  isWanted: (record: ChargedRecord) => boolean = () => true,
  limit = Number.POSITIVE_INFINITY,
): Promise<ChargedRecord[]> {
  const found: ChargedRecord[] = [];
  let left = seqs.toSorted((one, other) => Number(other - one));
  while (left.length > 0 && found.length < limit) {
    const newest = left[0]!;
    const placed = await findChunkFrom(db, tenant, newest);
    const first = placed?.firstSeq ?? 0n;
    const own = new Set(left.filter((seq) => seq >= first));
    const records = own.size > 0 && placed ? await placed.chunk.records((_, seq) => own.has(seq)) : [];
    found.push(...records.filter(isWanted).reverse());
    // A posting before the first chunk has no usage.
    left = left.filter((seq) => seq < first && seq < newest);
  }
  return found.slice(0, limit);
}

/** The archived records with these ids. `chunks`: by id, the numbers of the chunks that may have it. */
export async function findInChunks(
  db: Db,
  tenant: TenantId,
  chunks: ReadonlyMap<string, readonly number[]>,
): Promise<ChargedRecord[]> {
  const byChunk = new Map<number, Set<string>>();
  for (const [id, numbers] of chunks) {
    for (const number of numbers) byChunk.set(number, (byChunk.get(number) ?? new Set()).add(id));
  }
  const found: ChargedRecord[] = [];
  for (const [number, wanted] of byChunk) {
    const placed = await findChunk(db, tenant, number);
    if (!placed) continue;
    const ids = await placed.chunk.ids();
    const isAny = ids.some((id) => wanted.has(id));
    if (isAny) found.push(...(await placed.chunk.records((row) => wanted.has(ids[row]!), ids)));
  }
  return found;
}
