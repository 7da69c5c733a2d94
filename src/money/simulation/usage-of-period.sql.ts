/** SQL that counts the usage of a period. */
import { filtered } from '../../base/db/filtered.ts';
import type { Db } from '../../base/db/pool.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';

/** Usage that was charged, or accepted and not charged, from `from` on and before `to`. */
export interface Period {
  readonly from: Date;
  readonly to: Date;
  /** `undefined`: of all tenants. */
  readonly tenant: TenantId | undefined;
}

/** The sum that the postings of the period state. */
export async function countRecords(db: Db, { from, to, tenant }: Period): Promise<bigint> {
  const { name, where, values } = filtered('count-records-of-period', [from, to], {
    tenant: tenant !== undefined && ['p.tenant_id = ?', tenant],
  });
  const { rows } = await db.query<{ records: bigint }>({
    name,
    text: `select coalesce(sum(p.records), 0)::bigint as records
             from postings p where p.at >= $1 and p.at < $2 ${where}`,
    values,
  });
  return rows[0]!.records;
}
