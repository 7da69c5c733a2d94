/** Look the charge of an attempt up at the provider: was it made, although no answer arrived? */
import type Stripe from 'stripe';
import type { Provider } from '../payments/provider.ts';
import type { Attempt } from './attempt.ts';

/** The provider's clock and the database's may differ. */
const CLOCKS_DIFFER_SECONDS_MAX = 86_400;

/**
 * `undefined`: there is none so far. The list is read, and not the provider's search: a search may miss
 * a charge of the last minute.
 *
 * Each idempotency key of the attempt may have left a charge. One that was paid counts before all others.
 */
export async function findCharge(
  { stripe }: Provider,
  attempt: Attempt,
): Promise<Stripe.PaymentIntent | undefined> {
  const firstSent = Math.floor(attempt.firstSentAt!.getTime() / 1000);
  const found: Stripe.PaymentIntent[] = [];
  for await (const intent of stripe.paymentIntents.list({
    customer: attempt.customerId!,
    created: { gte: firstSent - CLOCKS_DIFFER_SECONDS_MAX },
    limit: 100,
    expand: ['data.payment_method'],
  })) {
    if (intent.metadata.attempt === attempt.id) found.push(intent);
  }
  const withStatus = (status: Stripe.PaymentIntent.Status) => found.find((each) => each.status === status);
  return withStatus('succeeded') ?? withStatus('processing') ?? found[0];
}

/** Whether the provider still works on the charge, so that its status says nothing yet. */
export function isUnderway({ status, last_payment_error }: Stripe.PaymentIntent): boolean {
  return (
    status === 'requires_confirmation' ||
    (status === 'requires_payment_method' && last_payment_error === null)
  );
}
