/** Find a checkout by the id in its return URL, and those of a tenant that are on their way. */
import type { Db } from '../../base/db/pool.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import { type Checkout, isCheckoutId } from './checkout.ts';
import { findCheckout, findProcessingCheckouts } from './checkouts.sql.ts';

/** Shown at once. */
const ON_THEIR_WAY_MAX = 10;

/** `id` may be any text. PostgreSQL refuses text with NUL, so only well-formed ids are looked up. */
export async function findCheckoutById(db: Db, id: string): Promise<Checkout | undefined> {
  return isCheckoutId(id) ? findCheckout(db, id) : undefined;
}

/** Payments that the bank is still working on: a debit takes days. */
export async function listOnTheirWay(
  db: Db,
  tenant: TenantId,
): Promise<Pick<Checkout, 'id' | 'amount' | 'createdAt'>[]> {
  return findProcessingCheckouts(db, tenant, ON_THEIR_WAY_MAX);
}
