/**
 * The tax of a payment, as the provider computed it on the payment page.
 *
 * The customer pays it on top of the credit that was ordered, and it belongs to the tax office: it is never
 * credited.
 */
import type Stripe from 'stripe';
import type { Db } from '../../base/db/pool.ts';
import { microsOfCents } from '../amount.ts';
import type { Provider } from '../payments/provider.ts';
import { findCheckoutById } from './find-checkout.ts';

/** Micros. 0 for automatic top-ups, which have no payment page. */
export async function findTax(
  db: Db,
  { stripe }: Provider,
  { id, status, metadata, amount_received }: Stripe.PaymentIntent,
): Promise<bigint> {
  if (status !== 'succeeded') return 0n;
  const checkout = await findCheckoutById(db, metadata.checkout ?? '');
  // Exactly the amount that was ordered includes no tax. This saves a call for most payments.
  if (!checkout || checkout.amount === microsOfCents(amount_received)) return 0n;
  const { data } = await stripe.checkout.sessions.list({ payment_intent: id, limit: 1 });
  return taxOf(data[0]);
}

/** Micros. `undefined`: the payment was made without a payment page. */
export function taxOf(session: Stripe.Checkout.Session | undefined): bigint {
  return microsOfCents(session?.total_details?.amount_tax ?? 0);
}
