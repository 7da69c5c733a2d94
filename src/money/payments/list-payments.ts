/** Payments of a tenant, newest first. */
import type { Db } from '../../base/db/pool.ts';
import { type Page, readPage } from '../../base/lib/page.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import { findPaymentsOf } from './list-payments.sql.ts';
import type { ListedPayment, PaymentsQuery } from './payment.ts';

/** Returns `undefined` if no payment of the period comes after the previous page. */
export async function listPayments(
  db: Db,
  tenant: TenantId,
  { size, ...query }: PaymentsQuery,
): Promise<Page<ListedPayment> | undefined> {
  const page = await readPage(size, (limit) => findPaymentsOf(db, tenant, { ...query, limit }));
  // Payments are never deleted, so at least one comes after the end of a page.
  return query.after !== undefined && page.items.length === 0 ? undefined : page;
}
