/** SQL of `record_chunks`: the archive of usage records. */
import { runTogether, type Statement } from '../../../base/db/pipeline.ts';
import type { Db, Tx } from '../../../base/db/pool.ts';
import { COUNTS_AS_PAID, type TenantId } from '../../../base/tenants/tenant.ts';
import { parseRateCard, type RateCard, type RateCardRow } from '../../pricing/rate-card.ts';
import { type Cards, Chunk, type Columns } from './chunk.ts';

/** A chunk and its place. Its columns are read when they are asked for. */
export interface PlacedChunk {
  readonly number: number;
  readonly firstSeq: bigint;
  readonly lastSeq: bigint;
  readonly records: number;
  readonly chunk: Chunk;
}

export interface ChunkRow extends Omit<PlacedChunk, 'chunk'>, Columns {}

/** As `ChunkRow` has them. */
export const COLUMNS = 'number, first_seq as "firstSeq", last_seq as "lastSeq", records, numbers, ids, names';

/** The first of the rows, if there is one. */
export function placed(db: Db, tenant: TenantId, [row]: readonly ChunkRow[]): PlacedChunk | undefined {
  if (!row) return undefined;
  const { numbers, ids, names, ...place } = row;
  const key = { tenant, number: place.number };
  return { ...place, chunk: new Chunk(key, { numbers, ids, names }, () => readCards(db)) };
}

/** All rate cards. There are few, and a version never changes. */
export async function readCards(db: Db): Promise<Cards> {
  const { rows } = await db.query<Pick<RateCardRow, 'version' | 'card'>>({
    name: 'read-rate-cards',
    text: 'select version, card from rate_cards',
  });
  return new Map(
    rows.map(({ version, card }): [number, RateCard] => [version, { version, ...parseRateCard(card) }]),
  );
}

/** The newest chunk of the tenant. */
export async function findNewestChunk(db: Db, tenant: TenantId): Promise<PlacedChunk | undefined> {
  const { rows } = await db.query<ChunkRow>({
    name: 'find-newest-chunk',
    text: `select ${COLUMNS} from record_chunks where tenant_id = $1 order by last_seq desc limit 1`,
    values: [tenant],
  });
  return placed(db, tenant, rows);
}

/** A chunk that a request reads. */
export interface RequestedChunk extends PlacedChunk {
  /** Its tenant has. */
  readonly hasPaid: boolean;
  /** Another one after the chunk has grown, or names were erased. */
  readonly version: string;
}

/** Columns begin with their checksums. That of ids differs where a restored database has taken another course. */
const VERSION = `last_seq || '-' || encode(substring(names from 1 for 4) || substring(ids from 1 for 4), 'hex')`;
const REQUESTED = `${COLUMNS}, ${VERSION} as version,
  (select status from tenants where id = $1) ${COUNTS_AS_PAID} as "hasPaid"`;

type RequestedRow = ChunkRow & Pick<RequestedChunk, 'hasPaid' | 'version'>;

/** `hasPaid` and `version` of the row stay. */
const requested = (db: Db, tenant: TenantId, rows: readonly RequestedRow[]) =>
  placed(db, tenant, rows) as RequestedChunk | undefined;

export async function findChunk(
  db: Db,
  tenant: TenantId,
  number: number,
): Promise<RequestedChunk | undefined> {
  const { rows } = await db.query<RequestedRow>({
    name: 'find-chunk',
    text: `select ${REQUESTED} from record_chunks where tenant_id = $1 and number = $2`,
    values: [tenant, number],
  });
  return requested(db, tenant, rows);
}

/** The versions of those of the chunks that exist, by number. */
export async function findChunkVersions(
  db: Db,
  tenant: TenantId,
  numbers: readonly number[],
): Promise<Map<number, string>> {
  const { rows } = await db.query<{ number: number; version: string }>({
    name: 'find-chunk-versions',
    text: `select number, ${VERSION} as version from record_chunks where tenant_id = $1 and number = any($2)`,
    values: [tenant, numbers],
  });
  return new Map(rows.map(({ number, version }) => [number, version]));
}

/** The first chunk with a number above `after`. */
export async function findChunkAfter(
  db: Db,
  tenant: TenantId,
  after: number,
): Promise<PlacedChunk | undefined> {
  const { rows } = await db.query<ChunkRow>({
    name: 'find-chunk-after',
    text: `select ${COLUMNS} from record_chunks where tenant_id = $1 and number > $2 order by number limit 1`,
    values: [tenant, after],
  });
  return placed(db, tenant, rows);
}

/** The first chunk that has a posting from `seq` on. */
export async function findChunkFrom(
  db: Db,
  tenant: TenantId,
  seq: bigint,
): Promise<RequestedChunk | undefined> {
  const { rows } = await db.query<RequestedRow>({
    name: 'find-chunk-from',
    text: `select ${REQUESTED} from record_chunks where tenant_id = $1 and last_seq >= $2
            order by last_seq limit 1`,
    values: [tenant, seq],
  });
  return requested(db, tenant, rows);
}

/** Some chunk of the tenant that may have rows. */
export async function findChunkWithRows(db: Db, tenant: TenantId): Promise<PlacedChunk | undefined> {
  const { rows } = await db.query<ChunkRow>({
    name: 'find-chunk-with-rows',
    text: `select ${COLUMNS} from record_chunks where tenant_id = $1 and has_rows order by number limit 1`,
    values: [tenant],
  });
  return placed(db, tenant, rows);
}

/** Insert a chunk, or replace the newest one, which has grown: its account, which must be locked, is archived up to there. */
export async function putChunk(tx: Tx, tenant: TenantId, chunk: ChunkRow): Promise<void> {
  const { number, firstSeq, lastSeq, records, numbers, ids, names } = chunk;
  const put: Statement = {
    name: 'put-chunk',
    text: `insert into record_chunks (tenant_id, number, first_seq, last_seq, records, numbers, ids, names)
           values ($1, $2, $3, $4, $5, $6, $7, $8)
           on conflict (tenant_id, number) do update
              set last_seq = excluded.last_seq, records = excluded.records, numbers = excluded.numbers,
                  ids = excluded.ids, names = excluded.names, has_rows = true`,
    values: [tenant, number, firstSeq, lastSeq, records, numbers, ids, names],
  };
  const moveEnd: Statement = {
    name: 'move-archived-seq',
    text: 'update accounts set archived_seq = $2 where tenant_id = $1',
    values: [tenant, lastSeq],
  };
  await runTogether(tx, [put, moveEnd]);
}

/** Names that were erased. */
export async function replaceNames(tx: Tx, tenant: TenantId, number: number, names: Buffer): Promise<void> {
  await tx.query({
    name: 'replace-names-of-chunk',
    text: 'update record_chunks set names = $3 where tenant_id = $1 and number = $2',
    values: [tenant, number, names],
  });
}

/** Deletes rows that chunks have. */
export async function deleteRows(db: Db, tenant: TenantId, ids: readonly string[]): Promise<void> {
  await db.query({
    name: 'delete-archived-rows',
    text: 'select delete_archived_records($1, $2)',
    values: [tenant, ids],
  });
}

/** Unless the chunk has grown since it was read. */
export async function noteWithoutRows(
  db: Db,
  tenant: TenantId,
  { number, lastSeq }: PlacedChunk,
): Promise<void> {
  await db.query({
    name: 'note-without-rows',
    text: `update record_chunks set has_rows = false where tenant_id = $1 and number = $2 and last_seq = $3`,
    values: [tenant, number, lastSeq],
  });
}

/** Sets these locks apart from others. */
const ARCHIVE = 0x41524348;

/** Keeps erasures and other moves of the tenant from its records until the transaction ends. */
export async function lockArchive(tx: Tx, tenant: TenantId): Promise<void> {
  await tx.query({
    name: 'lock-archive',
    text: 'select pg_advisory_xact_lock($1, hashint8($2))',
    values: [ARCHIVE, tenant],
  });
}
