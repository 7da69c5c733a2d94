/** Paying, authenticating, settling and expiring checkout sessions and payment intents. */
import { invalidRequest, refused } from '../http/errors.ts';
import type { Instrument } from '../objects/cards.ts';
import { type CheckoutSession, renderCheckoutSession, totalOf } from '../objects/checkout-session.ts';
import { type PaymentIntent, renderPaymentIntent } from '../objects/payment-intent.ts';
import { instrumentOf, type PaymentMethod } from '../objects/payment-method.ts';
import { emit, now, type Provider, perform } from '../provider.ts';
import { createCustomer } from './create-customer.ts';
import { createPaymentIntent } from './create-payment-intent.ts';
import { getLiveCustomer, getRow } from './find.ts';
import { authenticateIntent, ON_SESSION, payIntent, settleIntent } from './pay-intent.ts';
import { createPaymentMethod } from './save-payment-method.ts';

/** Pay an open session as its buyer would. The status of the returned intent is the outcome. */
export function payCheckout(
  provider: Provider,
  session: CheckoutSession,
  instrument: Instrument,
  email: string | null,
): PaymentIntent {
  if (session.status !== 'open') throw refused(`This checkout session is ${session.status}.`);
  if (session.allowedTypes !== null && !session.allowedTypes.includes(instrument.type)) {
    throw refused('This checkout session does not allow that payment method.');
  }
  if (session.customer !== null) getLiveCustomer(provider, session.customer, 'customer');

  const intent = intentOf(provider, identifyBuyer(provider, session, email));
  if (intent.status === 'requires_action') cancelAuthentication(provider, intent);
  const method = createPaymentMethod(provider, instrument, {
    email,
    allowRedisplay: intent.setupFutureUsage === null ? 'unspecified' : 'limited',
  });
  const paid = payIntent(provider, intent, method, ON_SESSION);
  settleLater(provider, paid);
  return paid;
}

/** The answer to the bank's question, given on the authentication page. */
export function authenticatePayment(provider: Provider, id: string, confirmed: boolean): PaymentIntent {
  const intent = getRow(provider, 'paymentIntents', id);
  if (intent.status !== 'requires_action') throw refused('This payment does not wait for authentication.');
  return authenticateIntent(provider, intent, methodOf(provider, intent), { confirmed });
}

/** Settle or return a bank debit. Without `outcome`, the test debit decides. */
export function settlePayment(
  provider: Provider,
  id: string,
  outcome?: 'succeeded' | 'failed',
): PaymentIntent {
  const intent = getRow(provider, 'paymentIntents', id);
  if (intent.status !== 'processing') throw refused('This payment is not processing.');
  const method = methodOf(provider, intent);
  const { behaviour } = instrumentOf(method);
  const byItself = behaviour.kind === 'settles_later' ? behaviour.outcome : 'succeeded';
  return settleIntent(provider, intent, method, outcome ?? byItself);
}

/** Schedule the settlement of a processing payment, if the sandbox settles payments by itself. */
export function settleLater(provider: Provider, { id, status }: PaymentIntent): void {
  if (status !== 'processing' || provider.settleAfterMs === undefined) return;
  provider.timers.after(provider.settleAfterMs, () => {
    if (provider.state.get('paymentIntents', id)?.status !== 'processing') return;
    perform(provider, null, () => settlePayment(provider, id));
  });
}

export function expireCheckout(provider: Provider, session: CheckoutSession): CheckoutSession {
  if (session.status !== 'open') {
    throw refused(
      `Only Checkout Sessions with a status in ["open"] can be expired. This one is ${session.status}.`,
    );
  }
  const intent = provider.state.get('paymentIntents', session.paymentIntent ?? '');
  if (intent !== undefined) cancelIntent(provider, intent, 'expired');
  const expired = provider.state.change('checkoutSessions', session.id, { status: 'expired' });
  emit(provider, 'checkout.session.expired', renderCheckoutSession(expired, provider.publicUrl));
  return expired;
}

/** Expire every session whose time has come. */
export function expireDue(provider: Provider): void {
  const due = provider.state
    .all('checkoutSessions')
    .filter(({ status, expiresAt }) => status === 'open' && expiresAt <= now(provider));
  if (due.length === 0) return;
  perform(provider, null, () => {
    for (const session of due) expireCheckout(provider, session);
  });
}

export function cancelIntent(
  provider: Provider,
  intent: PaymentIntent,
  reason: string | null,
): PaymentIntent {
  if (['succeeded', 'canceled', 'processing'].includes(intent.status)) {
    throw refused(`You cannot cancel this PaymentIntent because it has a status of ${intent.status}.`, {
      code: 'payment_intent_unexpected_state',
      payment_intent: renderPaymentIntent(intent, provider.publicUrl),
    });
  }
  const canceled = provider.state.change('paymentIntents', intent.id, {
    status: 'canceled',
    canceledAt: now(provider),
    cancellationReason: reason,
  });
  emit(provider, 'payment_intent.canceled', renderPaymentIntent(canceled, provider.publicUrl));
  return canceled;
}

function methodOf(provider: Provider, intent: PaymentIntent): PaymentMethod {
  return getRow(provider, 'paymentMethods', intent.paymentMethod ?? '(none)', 'payment_method');
}

/** A buyer who left the authentication page may come back and choose another card. */
function cancelAuthentication(provider: Provider, intent: PaymentIntent): void {
  provider.state.change('paymentIntents', intent.id, {
    status: 'requires_payment_method',
    paymentMethod: null,
  });
}

/** The session with the buyer's address, and with a new customer if it should create one. */
function identifyBuyer(provider: Provider, session: CheckoutSession, email: string | null): CheckoutSession {
  const buyerEmail = email ?? session.customerEmail;
  if (session.customer !== null) {
    const known = provider.state.get('customers', session.customer)?.email ?? buyerEmail;
    return provider.state.change('checkoutSessions', session.id, { buyerEmail: known });
  }
  if (buyerEmail === null) throw invalidRequest('The buyer must give an e-mail address.', { param: 'email' });
  const wanted = session.customerCreation === 'always' || session.paymentIntentData.setupFutureUsage !== null;
  const customer = wanted ? createCustomer(provider, { email: buyerEmail }).id : null;
  return provider.state.change('checkoutSessions', session.id, { buyerEmail, customer });
}

/** The session's payment intent, created when the buyer first tries to pay. */
function intentOf(provider: Provider, session: CheckoutSession): PaymentIntent {
  const existing = provider.state.get('paymentIntents', session.paymentIntent ?? '');
  if (existing !== undefined) return existing;
  const intent = createPaymentIntent(provider, {
    ...session.paymentIntentData,
    amount: totalOf(session),
    currency: session.currency,
    customer: session.customer,
    checkoutSession: session.id,
    allowedTypes: session.allowedTypes,
  });
  provider.state.change('checkoutSessions', session.id, { paymentIntent: intent.id });
  return intent;
}
