/** SQL that reads what usage took in the last hours, from the balances of postings. */
import type { Db } from '../../base/db/pool.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import type { Spent } from './runway.ts';

/** What usage took, and the balance at the same instant. */
export interface Spending {
  readonly now: Date;
  readonly balance: bigint;
  /** The newest posting that `balance` has. */
  readonly lastSeq: bigint;
  readonly exempt: boolean;
  /** In the order of the hours that were asked for. */
  readonly spent: readonly Spent[];
}

/**
 * What usage took in each of the last so many hours, to the micro and up to now.
 *
 * A posting has the balance after it. So usage is what the balance fell by since the start of the window, but for
 * entries of other kinds, which have a small index. No posting of usage is read but the last before each window,
 * however many there are.
 */
export async function readSpending(db: Db, tenant: TenantId, hours: readonly number[]): Promise<Spending> {
  const { rows } = await db.query<Omit<Spending, 'spent'> & { readonly spent: bigint }>({
    name: 'read-spending',
    text: `select t.now, a.balance, a.last_seq as "lastSeq", tenant.exempt,
                  (coalesce(start.balance, 0)::numeric - a.balance + coalesce((
                     select sum(o.amount) from postings o
                      where o.tenant_id = $1 and o.seq > coalesce(start.seq, 0) and o.seq <= a.last_seq
                        and o.kind not in ('usage', 'unbilled')), 0))::bigint as spent
             from (select clock_timestamp() as now) t
             join accounts a on a.tenant_id = $1
             join tenants tenant on tenant.id = a.tenant_id
            cross join unnest($2::integer[]) with ordinality as w (hours, place)
             left join lateral (
               select seq, balance from postings p
                where p.tenant_id = $1 and p.at <= t.now - make_interval(hours => w.hours)
                order by p.at desc, p.seq desc limit 1) as start on true
            order by w.place`,
    values: [tenant, [...hours]],
  });
  const [{ now, balance, lastSeq, exempt }] = rows as [(typeof rows)[number]];
  return {
    now,
    balance,
    lastSeq,
    exempt,
    spent: rows.map(({ spent }, at) => ({ hours: hours[at]!, spent })),
  };
}
