/** SQL that reads the usage of a period in the order in which it was charged. */
import { type Filtered, filtered } from '../../base/db/filtered.ts';
import type { Db } from '../../base/db/pool.ts';
import { readByCursor } from '../../base/db/read-by-cursor.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';

/** Usage that was charged, or accepted and not charged, from `from` on and before `to`. */
export interface Period {
  readonly from: Date;
  readonly to: Date;
  /** `undefined`: of all tenants. */
  readonly tenant: TenantId | undefined;
}

/** The letters of role, tier and rounding are those of the tables; `u`: the rounding was not stored yet. */
export interface StoredUsage {
  readonly tenant: TenantId;
  /** The number of its posting. */
  readonly seq: bigint;
  readonly kind: 'usage' | 'unbilled';
  readonly ruleVersion: number;
  readonly rounding: string;
  readonly role: string;
  readonly tier: string;
  readonly seconds: number;
  readonly egressBytes: bigint;
  /** Micros: what it cost; if unbilled, what it would have cost. */
  readonly amount: bigint;
}

function postingsOf(name: string, { from, to, tenant }: Period): Filtered {
  return filtered(name, [from, to], { tenant: tenant !== undefined && ['p.tenant_id = ?', tenant] });
}

/** The sum that the postings of the period state. */
export async function countRecords(db: Db, period: Period): Promise<bigint> {
  const { name, where, values } = postingsOf('count-records-of-period', period);
  const { rows } = await db.query<{ records: bigint }>({
    name,
    text: `select coalesce(sum(p.records), 0)::bigint as records
             from postings p where p.at >= $1 and p.at < $2 ${where}`,
    values,
  });
  return rows[0]!.records;
}

/** In the order of charging. Needs a transaction, with one such read at a time. */
export function readUsage(db: Db, period: Period): AsyncGenerator<readonly StoredUsage[]> {
  const { where, values } = postingsOf('read-usage-of-period', period);
  return readByCursor<StoredUsage>(
    db,
    `select r.tenant_id as tenant, r.posting_seq as seq, p.kind, p.rule_version as "ruleVersion", p.rounding,
            r.role, r.tier, r.seconds, r.egress_bytes as "egressBytes", r.amount
       from usage_records r join postings p on p.tenant_id = r.tenant_id and p.seq = r.posting_seq
      where p.at >= $1 and p.at < $2 ${where}
      order by r.tenant_id, r.posting_seq, r.line`,
    values,
  );
}
