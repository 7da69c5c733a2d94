/** Effects of a finished payment attempt on its checkout session, and later trouble. */
import type { Charge } from '../objects/charge.ts';
import { type CheckoutSession, renderCheckoutSession } from '../objects/checkout-session.ts';
import type { PaymentIntent } from '../objects/payment-intent.ts';
import { instrumentOf } from '../objects/payment-method.ts';
import { emit, type Provider } from '../provider.ts';
import { createInvoice } from './create-invoice.ts';
import { openDispute } from './dispute-charge.ts';
import { warnOfFraud } from './warn-of-fraud.ts';

export function followPayment(provider: Provider, intent: PaymentIntent, charge: Charge | null): void {
  const session = provider.state.get('checkoutSessions', intent.checkoutSession ?? '');
  if (session !== undefined) followInSession(provider, session, intent);
  if (intent.status !== 'succeeded' || charge === null) return;

  const { kind } = instrumentOf(charge.paymentMethod).behaviour;
  if (kind === 'disputed') openDispute(provider, charge, {});
  if (kind === 'warned') warnOfFraud(provider, charge);
}

/** A declined card leaves an open session open. A bank debit may be returned after the session was completed. */
function followInSession(provider: Provider, session: CheckoutSession, intent: PaymentIntent): void {
  const paid = intent.status === 'succeeded';
  if (session.status === 'open' && !paid && intent.status !== 'processing') return;

  const completing = session.status === 'open';
  const invoice = paid && session.invoiceCreation ? createInvoice(provider, session, intent).id : null;
  const changed = provider.state.change('checkoutSessions', session.id, {
    status: 'complete',
    paymentStatus: paid ? 'paid' : 'unpaid',
    invoice,
  });
  const type = completing
    ? 'checkout.session.completed'
    : paid
      ? 'checkout.session.async_payment_succeeded'
      : 'checkout.session.async_payment_failed';
  emit(provider, type, renderCheckoutSession(changed, provider.publicUrl));
}
