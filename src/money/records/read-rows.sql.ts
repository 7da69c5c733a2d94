/** SQL that reads rows of usage records in the order in which they were charged. */
import { filtered } from '../../base/db/filtered.ts';
import type { Db } from '../../base/db/pool.ts';
import { readByCursor } from '../../base/db/read-by-cursor.ts';
import { RECORD } from './find-records.sql.ts';
import type { ReadRecord, RecordsRead } from './read-record.ts';

/**
 * Pages of rows, by tenant, posting and line, without those that chunks have as well. Needs a transaction, with one such read at a
 * time.
 */
export function readRows(
  db: Db,
  { tenant, from, to }: RecordsRead = {},
): AsyncGenerator<readonly ReadRecord[]> {
  const { where, values } = filtered('read-rows', [], {
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
       left join accounts a on a.tenant_id = r.tenant
      where r.seq > coalesce(a.archived_seq, 0) ${where}
      order by r.tenant, r.seq, r.line, r.id`,
    values,
  );
}
