/** SQL that finds when and by what usage was charged. */
import type { Db } from '../../base/db/pool.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';

export interface ChargeTerms {
  readonly seq: bigint;
  readonly kind: 'usage' | 'unbilled';
  readonly at: Date;
  readonly rateVersion: number;
  readonly ruleVersion: number;
  /** One letter, as stored. */
  readonly rounding: string;
}

/** Those of postings of usage, by their numbers. */
export async function findChargeTerms(
  db: Db,
  tenant: TenantId,
  seqs: readonly bigint[],
): Promise<ReadonlyMap<bigint, ChargeTerms>> {
  const { rows } = await db.query<ChargeTerms>({
    name: 'find-charge-terms',
    text: `select seq, kind, at, rate_version as "rateVersion", rule_version as "ruleVersion", rounding
             from postings where tenant_id = $1 and seq = any($2)`,
    values: [tenant, seqs],
  });
  return new Map(rows.map((row) => [row.seq, row]));
}
