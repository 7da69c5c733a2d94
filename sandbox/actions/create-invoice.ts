/** The invoice of a checkout session that was just paid. */
import type { CheckoutSession } from '../objects/checkout-session.ts';
import { type Invoice, renderInvoice } from '../objects/invoice.ts';
import type { PaymentIntent } from '../objects/payment-intent.ts';
import { emit, now, type Provider } from '../provider.ts';

export function createInvoice(
  provider: Provider,
  session: CheckoutSession,
  { id: paymentIntent }: PaymentIntent,
): Invoice {
  const { state, ids } = provider;
  const customer = state.get('customers', session.customer ?? '');
  const invoice = state.put('invoices', {
    id: ids.next('in_'),
    created: now(provider),
    number: `SANDBOX-${String(state.all('invoices').length + 1).padStart(4, '0')}`,
    paymentIntent,
    customerEmail: session.buyerEmail,
    customerName: customer?.name ?? null,
    lineIds: session.lineItems.map(() => ids.next('il_')),
    session,
  });
  const rendered = renderInvoice(invoice, provider.publicUrl);
  for (const type of ['invoice.created', 'invoice.finalized', 'invoice.paid'] as const) {
    emit(provider, type, rendered);
  }
  return invoice;
}
