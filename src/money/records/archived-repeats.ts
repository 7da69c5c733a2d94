/** Reported ids whose records are in the archive: they were charged long ago, and are not charged again. */
import type { Tx } from '../../base/db/pool.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import { findInChunks } from './chunks/read-chunks.ts';
import { rowOf } from './find-records.sql.ts';
import { chunksById } from './find-records.ts';
import { type ArchivingAccount, findSuspects, type KnownIdDeps } from './known-ids/find-suspects.ts';
import type { StoredRecord } from './stored-record.ts';
import type { UsageRecords } from './usage-records.ts';

/** By id, the numbers of the chunks that may have it. */
export type Suspects = ReadonlyMap<string, readonly number[]>;

/**
 * The ids of a batch that may be archived. Nearly always none: then it has cost no question to the database. Reliable only while the
 * account is locked, whose `archivedSeq` is given.
 */
export async function findArchiveSuspects(
  deps: KnownIdDeps,
  tx: Tx,
  account: ArchivingAccount,
  records: UsageRecords,
): Promise<Suspects> {
  const candidates = await findSuspects(deps, tx, account, records);
  return chunksById(candidates, (row) => records.id(row));
}

/** Those of them that are archived, by id. */
export async function findArchivedRepeats(
  tx: Tx,
  tenant: TenantId,
  suspects: Suspects,
): Promise<ReadonlyMap<string, StoredRecord>> {
  const records = await findInChunks(tx, tenant, suspects);
  return new Map(records.map((record) => [record.id, rowOf(record)]));
}
