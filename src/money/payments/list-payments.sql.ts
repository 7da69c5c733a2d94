/** Reads `payments` of a tenant a page at a time. */
import { filtered } from '../../base/db/filtered.ts';
import type { Db } from '../../base/db/pool.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import type { ListedPayment, PaymentsQuery } from './payment.ts';

/** Up to `limit` payments of a period that were credited before the one with id `after`, the newest first. */
export async function findPaymentsOf(
  db: Db,
  tenant: TenantId,
  { from, to, after, limit }: Omit<PaymentsQuery, 'size'> & { readonly limit: number },
): Promise<ListedPayment[]> {
  const { name, where, values } = filtered('find-payments-of', [tenant, limit], {
    from: from && ['settled_at >= ?', from],
    to: to && ['settled_at < ?', to],
    after: after && [
      '(settled_at, id) < (select settled_at, id from payments where tenant_id = $1 and id = ?)',
      after,
    ],
  });
  const { rows } = await db.query<ListedPayment>({
    name,
    text: `select id, tenant_id as tenant, kind, credited, tax, reversed, settled_at as "settledAt" from payments
            where tenant_id = $1 ${where} order by settled_at desc, id desc limit $2`,
    values,
  });
  return rows;
}
