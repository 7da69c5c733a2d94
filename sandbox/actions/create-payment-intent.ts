/** A new payment intent, without an attempt to pay it. */
import { type PaymentIntent, renderPaymentIntent } from '../objects/payment-intent.ts';
import { emit, now, type Provider } from '../provider.ts';

type Details = Pick<PaymentIntent, 'amount' | 'currency'> & Partial<PaymentIntent>;

export function createPaymentIntent(provider: Provider, details: Details): PaymentIntent {
  const intent = provider.state.put('paymentIntents', {
    id: provider.ids.next('pi_'),
    created: now(provider),
    customer: null,
    description: null,
    metadata: {},
    status: 'requires_payment_method',
    paymentMethod: null,
    latestCharge: null,
    lastError: null,
    setupFutureUsage: null,
    checkoutSession: null,
    returnUrl: null,
    receiptEmail: null,
    statementDescriptor: null,
    statementDescriptorSuffix: null,
    allowedTypes: null,
    canceledAt: null,
    cancellationReason: null,
    ...details,
  });
  emit(provider, 'payment_intent.created', renderPaymentIntent(intent, provider.publicUrl));
  return intent;
}
