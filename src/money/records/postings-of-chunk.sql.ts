/** SQL that reads chunks in order, and the postings whose records they have. */
import { isDistributed } from '../../base/db/distribution.ts';
import { filtered } from '../../base/db/filtered.ts';
import type { Db } from '../../base/db/pool.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import { type ChunkRow, COLUMNS, type PlacedChunk, placed } from './chunks/chunks.sql.ts';
import type { OfPosting, RecordsRead } from './read-record.ts';

/** After the chunk of that number of that tenant. */
export interface ChunkPlace {
  readonly tenant: TenantId;
  readonly number: number;
}

/** The next chunk by tenant and number that has a record that is asked for. */
export async function findNextChunk(
  db: Db,
  read: RecordsRead,
  after: ChunkPlace | undefined,
): Promise<(PlacedChunk & ChunkPlace) | undefined> {
  if (!isDistributed() || read.tenant !== undefined) return findNext(db, read, after);
  const ofTenant = after && (await findNext(db, { ...read, tenant: after.tenant }, after));
  if (ofTenant) return ofTenant;
  const tenant = await findNextTenant(db, read, after?.tenant);
  return tenant === undefined ? undefined : findNext(db, { ...read, tenant }, undefined);
}

async function findNext(
  db: Db,
  { tenant, from, to }: RecordsRead,
  after: ChunkPlace | undefined,
): Promise<(PlacedChunk & ChunkPlace) | undefined> {
  const { name, where, values } = filtered('find-next-chunk', [], {
    after: after && ['(c.tenant_id, c.number) > (?, ?)', after.tenant, after.number],
    tenant: tenant !== undefined && ['c.tenant_id = ?', tenant],
    ...inPeriod({ from, to }),
  });
  const { rows } = await db.query<ChunkRow & { readonly tenant: TenantId }>({
    name,
    text: `select tenant_id as tenant, ${COLUMNS} from record_chunks c where true ${where}
            order by c.tenant_id, c.number limit 1`,
    values,
  });
  const [row] = rows;
  const chunk = row && placed(db, row.tenant, rows);
  return chunk && { ...chunk, tenant: row.tenant };
}

/** Where tables are distributed: if they were asked for the chunk itself, all shards would send one. */
async function findNextTenant(
  db: Db,
  { from, to }: RecordsRead,
  after: TenantId | undefined,
): Promise<TenantId | undefined> {
  const { name, where, values } = filtered('find-next-tenant-with-chunks', [], {
    after: after !== undefined && ['c.tenant_id > ?', after],
    ...inPeriod({ from, to }),
  });
  const { rows } = await db.query<{ tenant: TenantId }>({
    name,
    text: `select tenant_id as tenant from record_chunks c where true ${where} order by c.tenant_id limit 1`,
    values,
  });
  return rows[0]?.tenant;
}

const inPeriod = ({ from, to }: Pick<RecordsRead, 'from' | 'to'>) => ({
  from: from && ([`${hasPosting('p.at >= ?')}`, from] as const),
  to: to && ([`${hasPosting('p.at < ?')}`, to] as const),
});

const hasPosting = (condition: string) =>
  `exists (select from postings p where p.tenant_id = c.tenant_id and p.seq between c.first_seq and c.last_seq
            and ${condition})`;

export interface PostingOfRecords extends OfPosting {
  readonly seq: bigint;
  readonly records: number;
  readonly newestIds: readonly string[];
}

/** The postings of usage of a chunk that are in the period. */
export async function findPostingsOfChunk(
  db: Db,
  { tenant, firstSeq, lastSeq }: PlacedChunk & ChunkPlace,
  { from, to }: RecordsRead,
): Promise<PostingOfRecords[]> {
  const { name, where, values } = filtered('find-postings-of-chunk', [tenant, firstSeq, lastSeq], {
    from: from && ['at >= ?', from],
    to: to && ['at < ?', to],
  });
  const { rows } = await db.query<PostingOfRecords>({
    name,
    text: `select seq, kind, at, rate_version as "rateVersion", rule_version as "ruleVersion", rounding, carry, records,
                  newest_ids as "newestIds"
             from postings where tenant_id = $1 and seq between $2 and $3 and records is not null ${where}`,
    values,
  });
  return rows;
}
