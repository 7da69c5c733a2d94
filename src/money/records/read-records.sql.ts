/** SQL that reads usage records in the order in which they were charged. */
import { filtered } from '../../base/db/filtered.ts';
import type { Db } from '../../base/db/pool.ts';
import { readByCursor } from '../../base/db/read-by-cursor.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import { RECORD, type RecordRow } from './find-records.sql.ts';

/** Absent: of all tenants; from the first, and up to the last. With a time, records without a posting are left out. */
export interface RecordsRead {
  readonly tenant?: TenantId | undefined;
  /** Those that were charged from `from` on and before `to`. */
  readonly from?: Date | undefined;
  readonly to?: Date | undefined;
}

/** What a record has of its posting. */
interface OfPosting {
  readonly kind: 'usage' | 'unbilled';
  readonly at: Date;
  readonly rateVersion: number;
  readonly ruleVersion: number;
  /** One letter, as stored: c, r, or u for unknown. */
  readonly rounding: string;
  readonly carry: bigint;
}

interface OfTenant extends RecordRow {
  readonly tenant: TenantId;
  /** On the last record of a posting: the ids that the posting names as its newest. */
  readonly newestIds: readonly string[] | null;
}

export type PostedRecord = OfTenant & OfPosting;

/** A usage record with its posting, whose columns are null if it is missing. */
export type ReadRecord = PostedRecord | (OfTenant & { readonly [Column in keyof OfPosting]: null });

/** Pages of records, by tenant, posting and line. Needs a transaction, with one such read at a time. */
export function readRecords(
  db: Db,
  { tenant, from, to }: RecordsRead = {},
): AsyncGenerator<readonly ReadRecord[]> {
  const { where, values } = filtered('read-records', [], {
    tenant: tenant !== undefined && ['r.tenant = ?', tenant],
    from: from && ['p.at >= ?', from],
    to: to && ['p.at < ?', to],
  });
  return readByCursor<ReadRecord>(
    db,
    `select r.*, p.kind, p.at, p.rate_version as "rateVersion", p.rule_version as "ruleVersion", p.rounding, p.carry,
            case when r.line = p.records - 1 then p.newest_ids end as "newestIds"
       from (select tenant_id as tenant, ${RECORD} from usage_records) as r
       left join postings p on p.tenant_id = r.tenant and p.seq = r.seq
      where true ${where}
      order by r.tenant, r.seq, r.line, r.id`,
    values,
  );
}
