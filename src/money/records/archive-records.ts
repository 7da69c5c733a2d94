/**
 * Moves usage records that are old enough into the archive, while the service charges.
 *
 * First a chunk has them, with their ids, in one transaction that locks the account: from then on every reader takes them from
 * there. Their rows are deleted later, some at a time. A process that ends in between leaves rows that the next turn deletes.
 */

import { setTimeout as wait } from 'node:timers/promises';
import type { Tx } from '../../base/db/pool.ts';
import { inTransaction } from '../../base/db/transaction.ts';
import type { BaseDeps } from '../../base/deps.ts';
import { hasProcessWithoutArchive } from '../../base/processes/processes.sql.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import { TenantTurns } from '../../base/tenants/tenant-turns.ts';
import { lockAccount } from '../accounts/accounts.sql.ts';
import type { ArchiveMetrics } from './archive-metrics.ts';
import type { ChargedRecord } from './charged-record.ts';
import { type ChunkPosting, DamagedColumnError, packChunk } from './chunks/chunk.ts';
import {
  deleteRows,
  findChunkWithRows,
  findNewestChunk,
  lockArchive,
  noteWithoutRows,
  type PlacedChunk,
  putChunk,
  readCards,
} from './chunks/chunks.sql.ts';
import { hashText } from './known-ids/id-hash.ts';
import { insertRun } from './known-ids/insert-run.ts';
import type { KnownFilters } from './known-ids/known-filters.ts';
import { mergeRuns } from './known-ids/merge-runs.ts';
import { findRowsOf } from './records-of-postings.sql.ts';
import { type ArchivablePosting, findArchivable, findTenantsToArchive } from './records-to-archive.sql.ts';

/** Larger chunks are hardly smaller for each record, and take longer to read. A posting is never divided. */
const CHUNK_RECORDS = 10_000;
/** Ids and names of a chunk, unless one posting has more: a request that needs one of its records unpacks all of it. */
const CHUNK_TEXT_BYTES = 2 ** 20;
const ROWS_AT_ONCE = 1_000;
const TENANTS_AT_ONCE = 100;
/** Ids are random, and half of them negative. */
const BEFORE_ALL = -(2n ** 63n) as TenantId;

/** A tenant's records wait for so much longer than they must, so that a few at a time are not packed again and again. */
const WAIT_FACTOR = 1.25;

/** Anyone can sign up a thousand tenants that never paid: only every so many turns are of theirs, while those that paid are due. */
const TURNS_OF_NEVER_PAID = 4;
/** After a look that found no tenant, while others are due. */
const LOOK_AGAIN_MS = 60_000;

/** A turn that waited for a lock has taken little of it. */
const PAUSE_MS_MAX = 500;

/** In the log. */
const JOB = 'archiving usage records';

export interface ArchiveDeps extends Pick<BaseDeps, 'db' | 'log'> {
  readonly knownFilters: KnownFilters;
  readonly metrics: Pick<ArchiveMetrics, 'archivedRecords' | 'archiveDuration'>;
  readonly config: { readonly archiveAfterSeconds: number | undefined };
}

/** A job that is run every minute, until nothing is due. Ends early when `stopping` is aborted. */
export function archivingRecords(deps: ArchiveDeps, stopping: AbortSignal): () => Promise<void> {
  const turns = new TenantTurns(deps.log, JOB);
  return () => archiveRecords(deps, stopping, turns);
}

export async function archiveRecords(
  deps: ArchiveDeps,
  stopping?: AbortSignal,
  turns = new TenantTurns(deps.log, JOB),
): Promise<void> {
  const { archiveAfterSeconds: seconds } = deps.config;
  // While versions change, some processes may be older.
  if (seconds === undefined || (await hasProcessWithoutArchive(deps.db))) return;
  const due = { seconds: seconds * WAIT_FACTOR, limit: TENANTS_AT_ONCE };
  const [paid, neverPaid] = [true, false].map(
    (hasPaid) =>
      new Walk((after) =>
        findTenantsToArchive(deps.db, { ...due, hasPaid, after, leftOut: turns.leftOut() }),
      ),
  ) as [Walk, Walk];
  for (let turn = 1; !stopping?.aborted; turn += 1) {
    const [first, other] = turn % TURNS_OF_NEVER_PAID === 0 ? [neverPaid, paid] : [paid, neverPaid];
    const tenant = (await first.next()) ?? (await other.next());
    if (tenant === undefined) return;
    const begun = performance.now();
    await turns.take(tenant, () => archiveTenant(deps, tenant, seconds));
    // Half of the time is left to requests.
    await wait(Math.min(performance.now() - begun, PAUSE_MS_MAX));
  }
}

/** Tenants that are due, by id, around and around. */
class Walk {
  readonly #find: (after: TenantId) => Promise<readonly TenantId[]>;
  #found: TenantId[] = [];
  #after = BEFORE_ALL;
  /** Looking costs a look at each account. */
  #lookAt = 0;

  constructor(find: (after: TenantId) => Promise<readonly TenantId[]>) {
    this.#find = find;
  }

  async next(): Promise<TenantId | undefined> {
    if (this.#found.length === 0 && performance.now() >= this.#lookAt) await this.#look();
    return this.#found.shift();
  }

  async #look(): Promise<void> {
    this.#found = [...(await this.#find(this.#after))];
    if (this.#found.length === 0 && this.#after !== BEFORE_ALL)
      this.#found = [...(await this.#find(BEFORE_ALL))];
    this.#after = this.#found.at(-1) ?? BEFORE_ALL;
    if (this.#found.length === 0) this.#lookAt = performance.now() + LOOK_AGAIN_MS;
  }
}

/** One chunk, and the rows of one: then it is the next tenant's turn. */
async function archiveTenant(
  { db, knownFilters, metrics }: ArchiveDeps,
  tenant: TenantId,
  seconds: number,
): Promise<void> {
  const stop = metrics.archiveDuration.startTimer();
  const moved = await inTransaction(db, (tx) => archiveNext(tx, tenant, seconds));
  if (moved) {
    metrics.archivedRecords.inc(moved.hashes.length);
    knownFilters.add(tenant, moved.hashes, moved.fromSeq, moved.lastSeq);
    if (moved.mustMerge) await mergeRuns(db, tenant);
  }
  const chunk = await findChunkWithRows(db, tenant);
  if (!chunk) return;
  const ids = await chunk.chunk.ids();
  for (let at = 0; at < ids.length; at += ROWS_AT_ONCE) {
    await deleteRows(db, tenant, ids.slice(at, at + ROWS_AT_ONCE));
  }
  await noteWithoutRows(db, tenant, chunk);
  stop();
}

/** What is in the archive now and was not before. */
interface Moved {
  /** Hashes of the ids. */
  readonly hashes: Float64Array;
  /** The last archived posting before, and now. */
  readonly fromSeq: bigint;
  readonly lastSeq: bigint;
  /** Runs of known ids are due to be merged. */
  readonly mustMerge: boolean;
}

/** Packs the next records. The account is locked only while the chunk is written. */
async function archiveNext(tx: Tx, tenant: TenantId, seconds: number): Promise<Moved | undefined> {
  await lockArchive(tx, tenant);
  const found = await findArchivable(tx, tenant, seconds, CHUNK_RECORDS);
  if (found.length === 0) return undefined;
  const { postings, records } = fitting(found, await readRows(tx, tenant, found));
  const [first, last] = [postings[0]!, postings.at(-1)!];
  const newest = await findNewestChunk(tx, tenant);
  const grown = await readToGrow(newest, records);
  const all = [...(grown?.records ?? []), ...records];
  const number = grown ? grown.number : (newest?.number ?? 0) + 1;
  const allPostings = [...(grown?.postings ?? []), ...postings];
  const columns = await packChunk({ tenant, number }, allPostings, all, await readCards(tx));
  await lockAccount(tx, tenant);
  await putChunk(tx, tenant, {
    number,
    firstSeq: grown ? grown.firstSeq : first.seq,
    lastSeq: last.seq,
    records: all.length,
    ...columns,
  });
  const hashes = Float64Array.from(records, ({ id }) => hashText(id));
  const mustMerge = await insertRun(tx, tenant, { hashes, chunk: number, lastSeq: last.seq });
  return { hashes, fromSeq: newest?.lastSeq ?? 0n, lastSeq: last.seq, mustMerge };
}

/** As many of the postings as have texts for one chunk, and at least one. */
function fitting(postings: readonly ArchivablePosting[], records: readonly ChargedRecord[]) {
  let count = 0;
  let end = 0;
  let bytes = 0;
  for (const posting of postings) {
    const own = records.slice(end, end + posting.records);
    bytes += textBytesOf(own);
    if (count > 0 && bytes > CHUNK_TEXT_BYTES) break;
    count += 1;
    end += own.length;
  }
  return { postings: postings.slice(0, count), records: records.slice(0, end) };
}

function textBytesOf(records: readonly ChargedRecord[]): number {
  const bytesOf = (text: string | null) => (text === null ? 0 : Buffer.byteLength(text));
  return records.reduce(
    (sum, { id, room, participant }) => sum + bytesOf(id) + bytesOf(room) + bytesOf(participant),
    0,
  );
}

/** In their order. */
async function readRows(
  tx: Tx,
  tenant: TenantId,
  postings: readonly ArchivablePosting[],
): Promise<ChargedRecord[]> {
  const limit = postings.reduce((sum, each) => sum + each.records, 1);
  const place = { seq: postings.at(-1)!.seq + 1n, line: 0 };
  const { rows } = await findRowsOf(tx, tenant, postings, { filter: {}, place, limit });
  return rows.toReversed();
}

interface Grown extends Pick<PlacedChunk, 'number' | 'firstSeq'> {
  readonly postings: readonly ChunkPosting[];
  readonly records: readonly ChargedRecord[];
}

/** The chunk, if it has room for these records. `undefined`: a new one has to be made, also where this one is damaged. */
async function readToGrow(
  newest: PlacedChunk | undefined,
  more: readonly ChargedRecord[],
): Promise<Grown | undefined> {
  if (!newest || newest.records + more.length > CHUNK_RECORDS) return undefined;
  const { number, firstSeq, chunk } = newest;
  try {
    const records = await chunk.records();
    if (textBytesOf(records) + textBytesOf(more) > CHUNK_TEXT_BYTES) return undefined;
    return { number, firstSeq, postings: await chunk.postings(), records };
  } catch (error) {
    if (error instanceof DamagedColumnError) return undefined;
    throw error;
  }
}
