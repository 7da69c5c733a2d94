/** Reads archived records for requests. A chunk is unpacked as a whole, when it is its turn. */
import type { Db } from '../../../base/db/pool.ts';
import type { TenantId } from '../../../base/tenants/tenant.ts';
import type { ChargedRecord } from '../charged-record.ts';
import type { Chunk } from './chunk.ts';
import { findChunk, findChunkFrom, type RequestedChunk } from './chunks.sql.ts';
import { unpackTurns } from './unpack-turns.ts';

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
    const records =
      own.size > 0 && placed
        ? await unpackInTurn(tenant, placed, (chunk) => chunk.records((_, seq) => own.has(seq)))
        : [];
    found.push(...records.filter(isWanted).reverse());
    // A posting before the first chunk has no usage.
    left = left.filter((seq) => seq < first && seq < newest);
  }
  return found.slice(0, limit);
}

/** The archived records with these ids. `numbers`: the chunks that may have them. */
export async function findInChunks(
  db: Db,
  tenant: TenantId,
  ids: ReadonlySet<string>,
  numbers: ReadonlySet<number>,
): Promise<ChargedRecord[]> {
  const found: ChargedRecord[] = [];
  for (const number of numbers) found.push(...(await findInChunk(db, tenant, number, ids)).records);
  return found;
}

type Ids = Pick<ReadonlySet<string>, 'has'>;

export interface FoundInChunk {
  /** As it was read. `undefined`: there is no such chunk. */
  readonly version: string | undefined;
  readonly records: readonly ChargedRecord[];
}

/** The records of a chunk with these ids. More may be added meanwhile. */
export async function findInChunk(db: Db, tenant: TenantId, number: number, ids: Ids): Promise<FoundInChunk> {
  const placed = await findChunk(db, tenant, number);
  const records = placed ? await unpackInTurn(tenant, placed, (chunk) => findIn(chunk, ids)) : [];
  return { version: placed?.version, records };
}

/** Others that wait for the turn hold connections, so the work in it needs none. */
async function unpackInTurn<T>(
  tenant: TenantId,
  { chunk, hasPaid }: RequestedChunk,
  work: (chunk: Chunk) => Promise<T>,
): Promise<T> {
  await chunk.cards();
  return unpackTurns.take({ tenant, hasPaid }, () => work(chunk));
}

async function findIn(chunk: Chunk, ids: Ids): Promise<readonly ChargedRecord[]> {
  const own = await chunk.ids();
  return own.some((id) => ids.has(id)) ? chunk.records((row) => ids.has(own[row]!), own) : [];
}
