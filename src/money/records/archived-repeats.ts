/** Reported ids whose records are in the archive: they were charged long ago, and are not charged again. */
import type { Db, Tx } from '../../base/db/pool.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import { findChunkVersions } from './chunks/chunks.sql.ts';
import { type FoundInChunk, findInChunk } from './chunks/read-chunks.ts';
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
  db: Db,
  account: ArchivingAccount,
  batches: readonly UsageRecords[],
): Promise<Suspects> {
  const hashes = batches.map(hashIds);
  const found = await findSuspects(deps, db, account, joined(hashes));
  const [ids, chunks] = [new Set<string>(), new Set<number>([...found.values()].flat())];
  if (chunks.size === 0) return { ids, chunks };
  for (const [at, records] of batches.entries())
    for (const [row, hash] of hashes[at]!.entries()) if (found.has(hash)) ids.add(records.id(row));
  return { ids, chunks };
}

function joined(parts: readonly Float64Array[]): Float64Array {
  if (parts.length === 1) return parts[0]!;
  const all = new Float64Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

/**
 * The archived records that batches of a tenant repeat. Reading them can take seconds, so it is done before the account is locked. Under
 * the lock, `find()` tells whether anything has changed since.
 */
export class ArchivedRepeats {
  readonly #tenant: TenantId;
  /** By number. */
  readonly #chunks = new Map<number, FoundInChunk>();

  constructor(tenant: TenantId) {
    this.#tenant = tenant;
  }

  /** Read the chunks that have not been read, or have changed since. Stops where `isWanted` is false before a chunk. */
  async read(db: Db, suspects: Suspects, isWanted: () => boolean): Promise<void> {
    for (const number of await this.#unread(db, suspects)) {
      if (!isWanted()) return;
      this.#chunks.set(number, await findInChunk(db, this.#tenant, number, suspects.ids));
    }
  }

  /** Those of the suspects that are archived, by id. `undefined`: there is more to read. */
  async find(tx: Tx, suspects: Suspects): Promise<ReadonlyMap<string, StoredRecord> | undefined> {
    if ((await this.#unread(tx, suspects)).length > 0) return undefined;
    const records = [...suspects.chunks].flatMap((number) => this.#chunks.get(number)!.records);
    return new Map(records.map((record) => [record.id, rowOf(record)]));
  }

  async #unread(db: Db, { chunks }: Suspects): Promise<number[]> {
    if (chunks.size === 0) return [];
    const versions = await findChunkVersions(db, this.#tenant, [...chunks]);
    return [...chunks].filter((number) => {
      const read = this.#chunks.get(number);
      return !read || read.version !== versions.get(number);
    });
  }
}
