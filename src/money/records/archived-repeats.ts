/** Reported ids whose records are in the archive: they were charged long ago, and are not charged again. */
import type { Tx } from '../../base/db/pool.ts';
import { findInChunks } from './chunks/read-chunks.ts';
import { rowOf } from './find-records.sql.ts';
import { type ArchivingAccount, findSuspects, type KnownIdDeps } from './known-ids/find-suspects.ts';
import { hashIds } from './known-ids/id-hash.ts';
import type { StoredRecord } from './stored-record.ts';
import type { UsageRecords } from './usage-records.ts';

/** Ids that may be archived, and the numbers of the chunks that may have them. */
export interface Suspects {
  readonly ids: ReadonlySet<string>;
  readonly chunks: ReadonlySet<number>;
}

/**
 * The ids of batches that may be archived. Nearly always none: then it has cost no question to the database. Reliable only while the
 * account is locked, whose `archivedSeq` is given.
 */
export async function findArchiveSuspects(
  deps: KnownIdDeps,
  tx: Tx,
  account: ArchivingAccount,
  batches: readonly UsageRecords[],
): Promise<Suspects> {
  const [ids, chunks] = [new Set<string>(), new Set<number>()];
  for (const records of batches) {
    const hashes = hashIds(records);
    const found = await findSuspects(deps, tx, account, hashes);
    if (found.size === 0) continue;
    for (const numbers of found.values()) for (const number of numbers) chunks.add(number);
    for (const [row, hash] of hashes.entries()) if (found.has(hash)) ids.add(records.id(row));
  }
  return { ids, chunks };
}

/** Those of them that are archived, by id. */
export async function findArchivedRepeats(
  tx: Tx,
  { tenant }: Pick<ArchivingAccount, 'tenant'>,
  suspects: Suspects,
): Promise<ReadonlyMap<string, StoredRecord>> {
  const records = await findInChunks(tx, tenant, suspects.ids, suspects.chunks);
  return new Map(records.map((record) => [record.id, rowOf(record)]));
}
