/** SQL that reads the postings of a tenant forwards. */
import type { Statement } from '../../base/db/pipeline.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import type { PostingKind } from '../ledger/ledger-line.ts';
import type { SummedPosting } from '../records/charged-record.ts';
import { FOUND_BY, PAGE } from '../records/records-of-postings.sql.ts';

export const POSTINGS_AT_ONCE = 500;

export interface NextPosting extends SummedPosting {
  readonly kind: PostingKind;
  readonly at: Date;
}

/**
 * The next postings, of every kind: up to so many that they have `look` records, and at least one. `after`: the posting before them,
 * as SQL about the tenant `$1`.
 */
export function nextPostings(tenant: TenantId, after: string, look: number): Statement<NextPosting> {
  return {
    name: 'find-next-postings',
    text: `select seq, kind, at, records, "insertedAt", ids is not null as "isNamed", ${PAGE}
             from (
               select seq, kind, at, ${FOUND_BY},
                      sum(coalesce(records, 1)) over (order by seq) - coalesce(records, 1) as before
                 from (select * from postings where tenant_id = $1 and seq > ${after}
                        order by seq limit ${POSTINGS_AT_ONCE}) as next) as counted
            where before < $2 order by seq`,
    values: [tenant, look],
  };
}
