/** Where a ledger stood at some time. */
import type { Db } from '../../base/db/pool.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';

/** The newest posting, and the balance after it, in micros. */
export interface PostedBalance {
  readonly seq: bigint;
  readonly balance: bigint;
}

/**
 * Before each of these times, in their order; without postings, 0. The times of postings never go back, so the newest one before a
 * time is the last one in the chain before it. One look-up for each time, however many postings there are.
 */
export async function findPostedBalances<const Times extends readonly Date[]>(
  db: Db,
  tenant: TenantId,
  times: Times,
): Promise<{ readonly [At in keyof Times]: PostedBalance }> {
  const { rows } = await db.query<PostedBalance>({
    name: 'find-posted-balances',
    text: `select coalesce(p.seq, 0) as seq, coalesce(p.balance, 0) as balance
             from unnest($2::timestamptz[]) with ordinality as each (time, place)
             left join lateral (select seq, balance from postings where tenant_id = $1 and at < each.time
                                 order by at desc, seq desc limit 1) as p on true
            order by place`,
    values: [tenant, times],
  });
  return rows as { readonly [At in keyof Times]: PostedBalance };
}

export async function findPostedBalance(db: Db, tenant: TenantId, before: Date): Promise<PostedBalance> {
  const [found] = await findPostedBalances(db, tenant, [before]);
  return found;
}
