/** What happened to credit in a month: from the postings and, for what was not charged, the sums of usage. */
import { filtered } from '../../base/db/filtered.ts';
import type { Db } from '../../base/db/pool.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import { endOf, type Month, startOf } from '../month.ts';
import { DELTA_SUMS } from '../usage/fold-usage.sql.ts';

/** Micros. Sums over tenants may be too large for 64 bits, so they come as text. */
export interface RevenueRow {
  readonly now: Date;
  readonly openingUnused: string;
  readonly openingOwed: string;
  readonly closingUnused: string;
  readonly closingOwed: string;
  readonly payments: string;
  readonly usage: string;
  readonly refunds: string;
  readonly disputes: string;
  readonly adjustments: string;
  readonly corrections: string;
  readonly grants: string;
  readonly grantsEnded: string;
  /** What the records of exempt tenants would have cost. */
  readonly unbilled: string;
  /** Some of the tenants whose postings do not lead from their first balance to their last, as `t_...`. */
  readonly wrong: readonly string[];
}

const kind = (name: string, ...kinds: string[]) =>
  `coalesce(sum(amount) filter (where kind in ('${kinds.join("', '")}')), 0) as ${name}`;

const sum = (of: string, name: string) => `coalesce(sum(${of}), 0)::text as "${name}"`;

/**
 * The balances at both ends are those of the newest postings before them, and the movements are the sums
 * between: two ways to the same number. The search for a posting runs backwards, so a report of a recent month
 * reads little more than the postings of this month. Months begin at whole hours, so the sums of hours are those of the month.
 */
export async function sumRevenue(db: Db, month: Month, tenant: TenantId | undefined): Promise<RevenueRow> {
  const { name, where, values } = filtered('sum-revenue', [startOf(month), endOf(month)], {
    tenant: tenant !== undefined && ['a.tenant_id = ?', tenant],
  });
  const newestBefore = (time: string) =>
    `select seq, balance from postings p where p.tenant_id = a.tenant_id and p.at < ${time}
      order by seq desc limit 1`;
  const { rows } = await db.query<RevenueRow>({
    name,
    text: `with tenants as (
             select a.tenant_id, coalesce(opening.balance, 0) as opening, coalesce(closing.balance, 0) as closing,
                    moved.*, coalesce(hours.sum, 0) + coalesce(deltas.sum, 0) as unbilled
               from accounts a
               left join lateral (${newestBefore('$1')}) as opening on true
               left join lateral (${newestBefore('$2')}) as closing on true
               cross join lateral (
                 select ${kind('payments', 'top_up', 'auto_top_up')}, ${kind('usage', 'usage')},
                        ${kind('refunds', 'refund')}, ${kind('disputes', 'dispute')},
                        ${kind('adjustments', 'adjustment')}, ${kind('corrections', 'correction')},
                        ${kind('grants', 'grant')}, ${kind('grants_ended', 'grant_expired', 'grant_voided')},
                        coalesce(sum(amount), 0) as total,
                        bool_or(kind = 'unbilled') as has_unbilled
                   from postings p
                  where p.tenant_id = a.tenant_id and p.seq > coalesce(opening.seq, 0)
                    and p.seq <= closing.seq) as moved
               left join lateral (
                 select sum(unbilled) from usage_hours h
                  where h.tenant_id = a.tenant_id and h.hour >= $1 and h.hour < $2) as hours on moved.has_unbilled
               left join lateral (
                 select sum(s.unbilled) from usage_deltas d, ${DELTA_SUMS}
                  where d.tenant_id = a.tenant_id and d.at >= $1 and d.at < $2) as deltas on moved.has_unbilled
              where true ${where})
           select clock_timestamp() as now,
                  ${sum('greatest(opening, 0)', 'openingUnused')}, ${sum('least(opening, 0)', 'openingOwed')},
                  ${sum('greatest(closing, 0)', 'closingUnused')}, ${sum('least(closing, 0)', 'closingOwed')},
                  ${sum('payments', 'payments')}, ${sum('usage', 'usage')}, ${sum('refunds', 'refunds')},
                  ${sum('disputes', 'disputes')}, ${sum('adjustments', 'adjustments')},
                  ${sum('corrections', 'corrections')}, ${sum('grants', 'grants')},
                  ${sum('grants_ended', 'grantsEnded')}, ${sum('unbilled', 'unbilled')},
                  coalesce((array_agg(tenant_name(tenant_id)) filter (where opening + total <> closing))[1:10],
                    '{}') as wrong
             from tenants`,
    values,
  });
  return rows[0]!;
}
