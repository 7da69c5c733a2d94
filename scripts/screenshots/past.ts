/**
 * What was charged, moved into the past. The service charges at the time of the database and at no other, so the script
 * reports thirty days of usage within seconds and then dates the postings back, as the owner of the tables.
 */
import type { Pool } from '../../src/base/db/pool.ts';
import { inTransaction } from '../../src/base/db/transaction.ts';
import type { TenantId } from '../../src/base/tenants/tenant.ts';

/** When the posting with this number was made. */
export interface Dated {
  readonly seq: bigint;
  readonly at: Date;
}

export async function newestPosting(owner: Pool, tenant: TenantId): Promise<bigint> {
  const { rows } = await owner.query<{ seq: string | null }>(
    'select max(seq) as seq from postings where tenant_id = $1',
    [tenant],
  );
  return BigInt(rows[0]?.seq ?? 0);
}

/**
 * Give the postings their times, which rise with the numbers, and make the sums by hour anew from them. `signedUpAt`: when the
 * tenant was created.
 */
export async function dateBack(
  owner: Pool,
  tenant: TenantId,
  signedUpAt: Date,
  postings: readonly Dated[],
): Promise<void> {
  await inTransaction(owner, async (tx) => {
    await tx.query('update tenants set created_at = $2 where id = $1', [tenant, signedUpAt]);
    await tx.query('update members set created_at = $2 where tenant_id = $1', [tenant, signedUpAt]);
    await tx.query('update api_keys set created_at = $2 where tenant_id = $1', [tenant, signedUpAt]);
    await tx.query('alter table postings disable trigger append_only');
    await tx.query(
      `update postings p set at = t.at from unnest($2::bigint[], $3::timestamptz[]) as t (seq, at)
        where p.tenant_id = $1 and p.seq = t.seq`,
      [tenant, postings.map(({ seq }) => seq), postings.map(({ at }) => at)],
    );
    await tx.query('alter table postings enable trigger append_only');
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
       select p.tenant_id, p.seq, p.at, json_agg(json_build_array(room, role, tier, s.records, seconds, egress, ingress, s.amount, 0))
         from postings p, lateral (
           select coalesce(r.room, '') as room, r.role, r.tier, count(*) as records, sum(r.seconds) as seconds,
                  sum(r.egress_bytes) as egress, sum(r.ingress_bytes) as ingress, sum(r.amount) as amount
             from usage_records r where r.tenant_id = p.tenant_id and r.posting_seq = p.seq
            group by 1, 2, 3) as s
        where p.tenant_id = $1 and p.kind = 'usage' group by p.tenant_id, p.seq, p.at`,
      [tenant],
    );
  });
}

/** Lets a relay's key have been used as often as it reported usage. */
export async function dateUses(owner: Pool, tenant: TenantId, key: string): Promise<void> {
  await owner.query(
    `insert into key_use_hours (tenant_id, key_id, hour, uses)
     select $1, $2, date_trunc('hour', at, 'UTC') as hour, 20 * count(*) from postings
      where tenant_id = $1 and kind = 'usage' and at > now() - interval '7 days' group by hour
     on conflict do nothing`,
    [tenant, key],
  );
}
