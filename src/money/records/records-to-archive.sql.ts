/** SQL that finds what is old enough for the archive. */

import type { Db, Tx } from '../../base/db/pool.ts';
import { onServers } from '../../base/tenants/shares.ts';
import { COUNTS_AS_PAID, type TenantId } from '../../base/tenants/tenant.ts';
import { archivedSeq } from '../accounts/archived-seq.ts';
import type { RecordsPlace } from './charged-record.ts';
import type { ChunkPosting } from './chunks/chunk.ts';
import { FOUND_BY, PAGE } from './records-of-postings.sql.ts';

export type ArchivablePosting = RecordsPlace & ChunkPosting;

const POSTINGS_AT_ONCE = 1_000;

export const OF_USAGE = `kind in ('usage', 'unbilled')`;

const olderThan = (parameter: string) => `clock_timestamp() - make_interval(secs => ${parameter})`;

export interface Due {
  /** Records older than this are due. */
  readonly seconds: number;
  /** Tenants that paid, or those that never did. */
  readonly hasPaid: boolean;
  /** Tenants after this one. */
  readonly after: TenantId;
  readonly leftOut: readonly TenantId[];
  readonly limit: number;
}

const PAID = `(select t.status ${COUNTS_AS_PAID} from tenants t where t.id = a.tenant_id)`;

/**
 * The next tenants, by id, that have records older than `seconds` as rows, or rows that chunks have as well.
 *
 * Times of postings never go back, so the first one after the newest chunk is the oldest.
 */
export async function findTenantsToArchive(
  db: Db,
  { seconds, hasPaid, after, leftOut, limit }: Due,
): Promise<readonly TenantId[]> {
  const rows = await onServers<{ tenant: TenantId }>(db, {
    name: 'find-tenants-to-archive',
    text: (tenants) => `(select tenant_id as tenant from accounts a
       where tenant_id > $2 and tenant_id <> all($3::bigint[]) ${tenants.and('tenant_id', 6)} and last_seq > archived_seq
         and ${PAID} = $5::boolean
         and (select at from postings p where p.tenant_id = a.tenant_id and p.seq > a.archived_seq and ${OF_USAGE}
               order by p.seq limit 1) < ${olderThan('$1')}
       order by tenant_id limit $4)
      union
      (select tenant_id from record_chunks a
        where has_rows and tenant_id > $2 and tenant_id <> all($3::bigint[]) ${tenants.and('tenant_id', 6)}
          and ${PAID} = $5::boolean
        order by tenant_id limit $4)`,
    values: [seconds, after, leftOut, limit, hasPaid],
  });
  const found = rows.map(({ tenant }) => tenant);
  return found.sort((a, b) => (a < b ? -1 : 1)).slice(0, limit);
}

/** The next postings of usage that are older than `seconds`, oldest first: up to so many that they have `most` records, and at least one. */
export async function findArchivable(
  tx: Tx,
  tenant: TenantId,
  seconds: number,
  most: number,
): Promise<ArchivablePosting[]> {
  const { rows } = await tx.query<ArchivablePosting>({
    name: 'find-archivable',
    text: `select seq, records, "rateVersion", "insertedAt", ids, ${PAGE}
             from (select seq, rate_version as "rateVersion", ${FOUND_BY},
                          sum(records) over (order by seq) as reached
                     from (select * from postings
                            where tenant_id = $1 and seq > ${archivedSeq('$1')} and ${OF_USAGE}
                              and at < ${olderThan('$2')}
                            order by seq limit ${POSTINGS_AT_ONCE}) as oldest) as counted
            where reached <= $3 or reached = records order by seq`,
    values: [tenant, seconds, most],
  });
  return rows;
}
