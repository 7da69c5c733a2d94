/** Reads usage records in the order in which they were charged: of each tenant first its chunks, then its rows. */
import type { Db } from '../../base/db/pool.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import { DamagedColumnError } from './chunks/chunk.ts';
import type { PlacedChunk } from './chunks/chunks.sql.ts';
import { rowOf } from './find-records.sql.ts';
import { type ChunkPlace, findNextChunk, findPostingsOfChunk } from './postings-of-chunk.sql.ts';
import type { ReadRecord, RecordsRead } from './read-record.ts';
import { readRows } from './read-rows.sql.ts';

/** Told of a chunk that cannot be read, whose records are then left out. */
export type OnDamage = (tenant: TenantId, error: DamagedColumnError) => void;

/**
 * Pages of records, by tenant, posting and line. Needs a transaction with one snapshot, with one such read at a time. Fails with
 * `DamagedColumnError`, unless `onDamage` is there.
 */
export async function* readRecords(
  db: Db,
  read: RecordsRead = {},
  onDamage?: OnDamage,
): AsyncGenerator<readonly ReadRecord[]> {
  const chunks = readChunks(db, read, onDamage);
  let chunk = (await chunks.next()).value;
  for await (const page of readRows(db, read)) {
    for (const [tenant, rows] of Map.groupBy(page, (row) => row.tenant)) {
      for (; chunk && chunk.tenant <= tenant; chunk = (await chunks.next()).value) yield chunk.records;
      yield rows;
    }
  }
  for (; chunk; chunk = (await chunks.next()).value) yield chunk.records;
}

interface ChunkRecords {
  readonly tenant: TenantId;
  readonly records: readonly ReadRecord[];
}

async function* readChunks(
  db: Db,
  read: RecordsRead,
  onDamage: OnDamage | undefined,
): AsyncGenerator<ChunkRecords, undefined> {
  let chunk = await findNextChunk(db, read, undefined);
  for (; chunk; chunk = await findNextChunk(db, read, chunk)) {
    const { tenant } = chunk;
    try {
      yield { tenant, records: await recordsOf(db, chunk, read) };
    } catch (error) {
      if (!(onDamage && error instanceof DamagedColumnError)) throw error;
      onDamage(tenant, error);
    }
  }
  return undefined;
}

async function recordsOf(db: Db, chunk: PlacedChunk & ChunkPlace, read: RecordsRead): Promise<ReadRecord[]> {
  const postings = await findPostingsOfChunk(db, chunk, read);
  const bySeq = new Map(postings.map((posting) => [posting.seq, posting]));
  const isAll = read.from === undefined && read.to === undefined;
  const records = await chunk.chunk.records((_, seq) => isAll || bySeq.has(seq));
  return records.map((record): ReadRecord => {
    const own = { ...rowOf(record), tenant: chunk.tenant };
    const posting = bySeq.get(record.seq);
    if (!posting) return { ...own, ...WITHOUT_POSTING };
    const { records: count, newestIds, ...ofPosting } = posting;
    return { ...ofPosting, ...own, newestIds: record.line === count - 1 ? newestIds : null };
  });
}

/** As an outer join gives a row without its posting. */
const WITHOUT_POSTING = {
  kind: null,
  at: null,
  rateVersion: null,
  ruleVersion: null,
  rounding: null,
  carry: null,
  newestIds: null,
} as const;
