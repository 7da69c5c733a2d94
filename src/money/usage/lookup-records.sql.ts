/** SQL that finds usage records by their ids. */
import type { Db } from '../../base/db/pool.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';

export interface FoundRecord {
  readonly id: string;
  /** When it was charged. */
  readonly at: Date;
  /** Micros. */
  readonly amount: bigint;
  /** The tenant was exempt: `amount` is what it would have cost. */
  readonly isUnbilled: boolean;
}

export async function findRecordsById(
  db: Db,
  tenant: TenantId,
  ids: readonly string[],
): Promise<FoundRecord[]> {
  const { rows } = await db.query<FoundRecord>({
    name: 'find-records-by-id',
    text: `select r.id, p.at, r.amount, p.kind = 'unbilled' as "isUnbilled"
             from usage_records r join postings p on p.tenant_id = r.tenant_id and p.seq = r.posting_seq
            where r.tenant_id = $1 and r.id = any($2)`,
    values: [tenant, ids],
  });
  return rows;
}
