/** Payments of a tenant, newest first. */
import type { Db } from '../../base/db/pool.ts';
import { type Page, readPage } from '../../base/lib/page.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import { findPaymentsOf } from './list-payments.sql.ts';
import type { ListedPayment } from './payment.ts';

export const PAYMENTS_PAGE_SIZE = 100;

/** `after` is the id of the last payment of the previous page. Returns `undefined` if none comes after it. */
export async function listPayments(
  db: Db,
  tenant: TenantId,
  after: string | undefined,
  size = PAYMENTS_PAGE_SIZE,
): Promise<Page<ListedPayment> | undefined> {
  const page = await readPage(size, (limit) => findPaymentsOf(db, tenant, { after, limit }));
  // Payments are never deleted, so at least one comes after the end of a page.
  return after !== undefined && page.items.length === 0 ? undefined : page;
}
