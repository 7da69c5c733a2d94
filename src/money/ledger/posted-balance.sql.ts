/** Where a ledger stood at some time. */
import type { Db } from '../../base/db/pool.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';

/** The newest posting, and the balance after it, in micros. */
export interface PostedBalance {
  readonly seq: bigint;
  readonly balance: bigint;
}

const NOTHING: PostedBalance = { seq: 0n, balance: 0n };

/** The times of postings never go back, so the newest one before a time is the last one in the chain before it. */
export async function findPostedBalance(db: Db, tenant: TenantId, before: Date): Promise<PostedBalance> {
  const { rows } = await db.query<PostedBalance>({
    name: 'find-posted-balance',
    text: `select seq, balance from postings where tenant_id = $1 and at < $2
            order by at desc, seq desc limit 1`,
    values: [tenant, before],
  });
  return rows[0] ?? NOTHING;
}
