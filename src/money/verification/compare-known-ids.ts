/** Compares the ids of archived records with the known ids, without which they would be charged again. */
import type { Db } from '../../base/db/pool.ts';
import { DamagedColumnError } from '../records/chunks/chunk.ts';
import type { PlacedChunk } from '../records/chunks/chunks.sql.ts';
import { findChunkNumbers } from '../records/known-ids/find-chunk-numbers.ts';
import { hashText } from '../records/known-ids/id-hash.ts';
import { DamagedPageError } from '../records/known-ids/page.ts';
import { type ChunkPlace, findNextChunk } from '../records/postings-of-chunk.sql.ts';
import { note } from './compare-records.ts';
import type { Difference } from './verify.sql.ts';

/** One difference for each chunk that has unknown ids. Needs a transaction with one snapshot. */
export async function compareKnownIds(db: Db): Promise<Difference[]> {
  const differences: Difference[] = [];
  let chunk = await findNextChunk(db, {}, undefined);
  for (; chunk; chunk = await findNextChunk(db, {}, chunk)) {
    const found = await findFault(db, chunk);
    if (!found) continue;
    const what = `known ids of chunk ${chunk.number}`;
    note(differences, [{ tenant: chunk.tenant, what, expected: 'each id of the chunk', found }]);
  }
  return differences;
}

async function findFault(
  db: Db,
  { tenant, number, chunk }: ChunkPlace & PlacedChunk,
): Promise<string | undefined> {
  try {
    const ids = await chunk.ids();
    const chunks = await findChunkNumbers(db, tenant, ids.map(hashText));
    const unknown = ids.filter((id) => !chunks.get(hashText(id))?.includes(number));
    return unknown.length > 0 ? `all but ${unknown.length}, such as ${unknown[0]}` : undefined;
  } catch (error) {
    // `compareRecords()` names a damaged chunk.
    if (error instanceof DamagedColumnError) return undefined;
    if (error instanceof DamagedPageError) return error.message;
    throw error;
  }
}
