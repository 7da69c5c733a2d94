/** SQL that finds the carry with which a posting of usage began. */
import type { Db } from '../../base/db/pool.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';

/** The carry that the tenant's charges before this posting left, over PRICE_DENOMINATOR; `undefined`: none. */
export async function findCarryBefore(db: Db, tenant: TenantId, seq: bigint): Promise<bigint | undefined> {
  const { rows } = await db.query<{ carry: bigint }>({
    name: 'find-carry-before',
    text: `select carry from postings where tenant_id = $1 and seq < $2 and kind = 'usage'
            order by seq desc limit 1`,
    values: [tenant, seq],
  });
  return rows[0]?.carry;
}
