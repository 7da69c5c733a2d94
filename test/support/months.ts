/** Ledgers of the past: tests cannot wait for months, so they move postings into them. */

import type { Pool, Tx } from '../../src/base/db/pool.ts';
import { inTransaction } from '../../src/base/db/transaction.ts';
import type { TenantId } from '../../src/base/tenants/tenant.ts';
import { lockAccount } from '../../src/money/accounts/accounts.sql.ts';
import { appendPosting, type NewPosting } from '../../src/money/ledger/ledger.sql.ts';
import { type Month, monthOf, startOf } from '../../src/money/month.ts';
import { withoutTriggers } from './append-only.ts';
import { changeReferenceTable } from './reference-tables.ts';

/** `monthsAgo(2)` is over, however early in a month the test runs. */
export function monthsAgo(count: number): Month {
  const start = startOf(monthOf(new Date()));
  start.setUTCMonth(start.getUTCMonth() - count);
  return monthOf(start);
}

/** Append a posting that is no usage, as if its payment were known. */
export async function post(
  db: Pool,
  tenant: TenantId,
  posting: Pick<NewPosting, 'kind' | 'amount' | 'reference' | 'detail' | 'paymentId'>,
): Promise<void> {
  await inTransaction(db, async (tx) => {
    await appendPosting(tx, await lockAccount(tx, tenant), posting);
  });
}

/**
 * Give the postings of a tenant these times (ISO 8601), in the order of their numbers, and leave its sums of usage to be
 * folded again. The tenant signed up long before.
 */
export async function moveInTime(db: Pool, tenant: TenantId, times: readonly string[]): Promise<void> {
  await changeReferenceTable(db, `update tenants set created_at = '2020-01-01T00:00:00Z' where id = $1`, [
    tenant,
  ]);
  await withoutTriggers(db, ['postings'], async (tx) => {
    for (const [index, at] of times.entries()) {
      await tx.query('update postings set at = $3 where tenant_id = $1 and seq = $2', [
        tenant,
        index + 1,
        at,
      ]);
    }
    await resetSums(tx, tenant);
  });
}

/** Leave the sums of usage to be folded again, by the times that postings have now. */
export async function resetSums(tx: Tx, tenant: TenantId): Promise<void> {
  for (const table of [
    'usage_deltas',
    'usage_hours',
    'usage_room_hours',
    'usage_room_days',
    'usage_room_weeks',
    'usage_detail_days',
    'usage_detail_weeks',
    'usage_detail_months',
    'usage_rollups',
  ]) {
    await tx.query(`delete from ${table} where tenant_id = $1`, [tenant]);
  }
  await tx.query(
    `insert into usage_deltas (tenant_id, seq, at, sums)
       select p.tenant_id, p.seq, p.at, json_agg(json_build_array(room, role, tier, s.records, seconds, egress_bytes, ingress_bytes, s.amount, unbilled))
         from postings p, lateral (
         select coalesce(r.room, '') as room, r.role, r.tier, count(*) as records, sum(r.seconds) as seconds,
                sum(r.egress_bytes) as egress_bytes, sum(r.ingress_bytes) as ingress_bytes,
                case when p.kind = 'usage' then sum(r.amount) else 0 end as amount,
                case when p.kind = 'usage' then 0 else sum(r.amount) end as unbilled
           from usage_records r where r.tenant_id = p.tenant_id and r.posting_seq = p.seq
          group by 1, 2, 3) as s
        where p.tenant_id = $1 and p.records is not null group by p.tenant_id, p.seq, p.at`,
    [tenant],
  );
}
