/**
 * What usage cost between postings, without a look at usage: it is what the balance lost beyond all other postings, which
 * are few, and which an index of their own has.
 */
import type { Db } from '../../base/db/pool.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import type { Mark } from './replay.ts';

/** `seqs`: postings in their order, or 0 for the time before the first one. The first mark has no usage. */
export async function sumUsageBetween(db: Db, tenant: TenantId, seqs: readonly bigint[]): Promise<Mark[]> {
  const { rows } = await db.query<{ seq: bigint; balance: bigint; others: string }>({
    name: 'sum-usage-between',
    // Subqueries: a join might read all postings of the tenant.
    text: `select s.seq, coalesce((select balance from postings where tenant_id = $1 and seq = s.seq), 0) as balance,
                  coalesce(o.sum, 0)::text as others
             from (select seq, lag(seq) over (order by seq) as before from unnest($2::bigint[]) as u (seq)) as s
             left join lateral (select sum(amount) from postings
                                 where tenant_id = $1 and kind not in ('usage', 'unbilled')
                                   and seq > s.before and seq <= s.seq) as o on true
            order by s.seq`,
    values: [tenant, seqs],
  });
  return rows.map(({ seq, balance, others }, at) => {
    const before = at === 0 ? balance : rows[at - 1]!.balance;
    return { seq, balance, usage: before + BigInt(others) - balance };
  });
}
