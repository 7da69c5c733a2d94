/** Reported ids whose records are in the archive: they were charged long ago, and are not charged again. */
import type { Db, Tx } from '../../base/db/pool.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import { findChunkVersions } from './chunks/chunks.sql.ts';
import { findInChunk } from './chunks/read-chunks.ts';
import { rowOf } from './find-records.sql.ts';
import { type ArchivingAccount, findSuspects, type KnownIdDeps } from './known-ids/find-suspects.ts';
import { hashIds } from './known-ids/id-hash.ts';
import type { RepeatMemory, TenantMemory } from './repeat-memory.ts';
import type { StoredRecord } from './stored-record.ts';
import type { UsageRecords } from './usage-records.ts';

/**
 * The numbers of the chunks that may have ids of these batches. Nearly always none: then it has cost no question to the database. Reliable
 * only while the account is locked, whose `archivedSeq` is given.
 */
export async function findSuspectChunks(
  deps: KnownIdDeps,
  db: Db,
  account: ArchivingAccount,
  batches: readonly UsageRecords[],
): Promise<ReadonlySet<number>> {
  const found = await findSuspects(deps, db, account, joined(batches.map(hashIds)));
  return new Set([...found.values()].flat());
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

/** Whose records are looked for. */
export interface Repeating {
  readonly tenant: TenantId;
  readonly hasPaid: boolean;
  readonly batches: readonly UsageRecords[];
  /** Those of the tenant that wait meanwhile. */
  readonly waiting: () => readonly UsageRecords[];
}

/**
 * The archived records that batches of a tenant repeat. Reading them can take seconds, so it is done before the account is locked. Under
 * the lock, `find()` tells whether a chunk has to be read that was not, or has changed since.
 */
export class ArchivedRepeats {
  readonly #tenant: TenantId;
  readonly #waiting: Repeating['waiting'];
  readonly #memory: TenantMemory;
  /** All ids of the batches: while some are read from a chunk, others may move there. */
  readonly #idsNeeded: number;

  constructor(memory: RepeatMemory, { tenant, hasPaid, batches, waiting }: Repeating) {
    this.#tenant = tenant;
    this.#waiting = waiting;
    this.#memory = memory.of(tenant, hasPaid);
    this.#idsNeeded = Math.max(0, ...batches.map((records) => this.#memory.ask(records)));
  }

  /** Read those of the chunks that have not been read, or have changed since. Stops where `isWanted` is false before one. */
  async read(db: Db, chunks: ReadonlySet<number>, isWanted: () => boolean): Promise<void> {
    for (const number of await this.#unread(db, chunks)) {
      if (!isWanted()) return;
      this.#memory.askAlong(this.#waiting());
      const ids = this.#memory.ids.size;
      const { version, records } = await findInChunk(db, this.#tenant, number, this.#memory.ids);
      this.#memory.put(number, { version, ids, records: records.map(rowOf) });
    }
  }

  /** The records in these chunks whose ids the batches have, by id, and perhaps others. `undefined`: there is more to read. */
  async find(tx: Tx, chunks: ReadonlySet<number>): Promise<ReadonlyMap<string, StoredRecord> | undefined> {
    if ((await this.#unread(tx, chunks)).length > 0) return undefined;
    const records = [...chunks].flatMap((number) => this.#memory.chunk(number)!.records);
    return new Map(records.map((record) => [record.id, record]));
  }

  async #unread(db: Db, chunks: ReadonlySet<number>): Promise<number[]> {
    if (chunks.size === 0) return [];
    const versions = await findChunkVersions(db, this.#tenant, [...chunks]);
    return [...chunks].filter((number) => {
      const read = this.#memory.chunk(number);
      return !read || read.version !== versions.get(number) || read.ids < this.#idsNeeded;
    });
  }
}
