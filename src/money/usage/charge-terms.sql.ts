/** SQL that finds by what a usage record was charged. */
import type { Db } from '../../base/db/pool.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';

export interface ChargeTerms {
  readonly seq: bigint;
  readonly line: number;
  readonly kind: 'usage' | 'unbilled';
  readonly rateVersion: number;
  readonly ruleVersion: number;
  /** One letter, as stored. */
  readonly rounding: string;
}

export async function findChargeTerms(
  db: Db,
  tenant: TenantId,
  id: string,
): Promise<ChargeTerms | undefined> {
  const { rows } = await db.query<ChargeTerms>({
    name: 'find-charge-terms',
    text: `select p.seq, r.line, p.kind, p.rate_version as "rateVersion", p.rule_version as "ruleVersion", p.rounding
             from usage_records r join postings p on p.tenant_id = r.tenant_id and p.seq = r.posting_seq
            where r.tenant_id = $1 and r.id = $2`,
    values: [tenant, id],
  });
  return rows[0];
}
