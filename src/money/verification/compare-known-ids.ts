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

/** One difference for each chunk that has unknown ids, or ids of another record. Needs a transaction with one snapshot. */
export async function compareKnownIds(db: Db): Promise<Difference[]> {
  const differences: Difference[] = [];
  let chunk = await findNextChunk(db, {}, undefined);
  let met = new Set<string>();
  for (let last = chunk; chunk; last = chunk, chunk = await findNextChunk(db, {}, chunk)) {
    if (chunk.tenant !== last?.tenant) met = new Set();
    const { tenant, number } = chunk;
    const found = await findFaults(db, chunk, met);
    const what = `known ids of chunk ${number}`;
    if (found.unknown)
      note(differences, [{ tenant, what, expected: 'each id of the chunk', found: found.unknown }]);
    const ids = `ids of chunk ${number}`;
    if (found.twice) note(differences, [{ tenant, what: ids, expected: 'each id once', found: found.twice }]);
  }
  return differences;
}

interface Faults {
  readonly unknown?: string;
  readonly twice?: string;
}

/** `met`: the ids of earlier chunks of the tenant whose hashes are in several chunks. */
async function findFaults(
  db: Db,
  { tenant, number, chunk }: ChunkPlace & PlacedChunk,
  met: Set<string>,
): Promise<Faults> {
  try {
    const ids = await chunk.ids();
    const chunks = await findChunkNumbers(db, tenant, ids.map(hashText));
    const own = new Set<string>();
    const [unknown, twice] = [[] as string[], [] as string[]];
    for (const id of ids) {
      const numbers = chunks.get(hashText(id)) ?? [];
      if (!numbers.includes(number)) unknown.push(id);
      if (own.has(id) || met.has(id)) twice.push(id);
      own.add(id);
      if (numbers.length > 1) met.add(id);
    }
    return {
      ...(unknown.length > 0 && { unknown: `all but ${unknown.length}, such as ${unknown[0]}` }),
      ...(twice.length > 0 && { twice: `${twice.length} charged before, such as ${twice[0]}` }),
    };
  } catch (error) {
    // `compareRecords()` names a damaged chunk.
    if (error instanceof DamagedColumnError) return {};
    if (error instanceof DamagedPageError) return { unknown: error.message };
    throw error;
  }
}
