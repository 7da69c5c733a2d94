/** Find a checkout by the id in its return URL. */
import type { Db } from '../../base/db/pool.ts';
import { type Checkout, isCheckoutId } from './checkout.ts';
import { findCheckout } from './payments.sql.ts';

/** `id` may be any text. PostgreSQL refuses text with NUL, so only well-formed ids are looked up. */
export async function findCheckoutById(db: Db, id: string): Promise<Checkout | undefined> {
  return isCheckoutId(id) ? findCheckout(db, id) : undefined;
}
