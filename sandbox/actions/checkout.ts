/** Paying, authenticating, settling and expiring checkout sessions and payment intents. */
import { invalidRequest, refused } from '../http/errors.ts';
import type { Instrument } from '../objects/cards.ts';
import { type CheckoutSession, renderCheckoutSession, totalOf } from '../objects/checkout-session.ts';
import { renderAddress, renderLiveCustomer } from '../objects/customer.ts';
import { type PaymentIntent, renderPaymentIntent } from '../objects/payment-intent.ts';
import { instrumentOf, type PaymentMethod } from '../objects/payment-method.ts';
import { TAXED_COUNTRY } from '../objects/tax.ts';
import { emit, now, type Provider, perform } from '../provider.ts';
import { createCustomer } from './create-customer.ts';
import { createPaymentIntent } from './create-payment-intent.ts';
import { getLiveCustomer, getRow } from './find.ts';
import { authenticateIntent, ON_SESSION, payIntent, settleIntent } from './pay-intent.ts';
import { createPaymentMethod } from './save-payment-method.ts';

/** What the buyer enters on the page. */
export interface Buyer {
  readonly email: string | null;
  /** Two letters; decides about tax. Default: that of an earlier payment, or else the one with tax. */
  readonly country?: string | undefined;
  readonly taxId?: string | undefined;
  /** The end of the card. Default: December, five years from now. */
  readonly expMonth?: number | undefined;
  readonly expYear?: number | undefined;
}

/** Pay an open session as its buyer would. The status of the returned intent is the outcome. */
export function payCheckout(
  provider: Provider,
  session: CheckoutSession,
  instrument: Instrument,
  buyer: Buyer,
): PaymentIntent {
  if (session.status !== 'open') throw refused(`This checkout session is ${session.status}.`);
  if (session.allowedTypes !== null && !session.allowedTypes.includes(instrument.type)) {
    throw refused('This checkout session does not allow that payment method.');
  }
  if (session.customer !== null) getLiveCustomer(provider, session.customer, 'customer');

  const intent = intentOf(
    provider,
    locateBuyer(provider, identifyBuyer(provider, session, buyer.email), buyer),
  );
  if (intent.status === 'requires_action') cancelAuthentication(provider, intent);
  const method = createPaymentMethod(provider, instrument, {
    email: buyer.email,
    allowRedisplay: intent.setupFutureUsage === null ? 'unspecified' : 'limited',
    ...(buyer.expMonth === undefined ? {} : { expMonth: buyer.expMonth }),
    ...(buyer.expYear === undefined ? {} : { expYear: buyer.expYear }),
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

/** The session with the buyer's country, which decides about tax, and with a tax id if the page asks for one. */
function locateBuyer(provider: Provider, session: CheckoutSession, buyer: Buyer): CheckoutSession {
  const { automaticTax, taxIdCollection, customerUpdate } = session;
  if (!automaticTax && !taxIdCollection) return session;
  const country = buyer.country ?? session.country ?? TAXED_COUNTRY;
  const customer = provider.state.get('customers', session.customer ?? '');
  if (customer !== undefined && customerUpdate?.address === 'auto' && customer.country !== country) {
    const changed = provider.state.change('customers', customer.id, { country });
    emit(provider, 'customer.updated', renderLiveCustomer(changed), {
      address: renderAddress(customer.country),
    });
  }
  const taxId = (taxIdCollection && buyer.taxId) ?? null;
  return provider.state.change('checkoutSessions', session.id, { country, taxId });
}

/** The session's payment intent, created when the buyer first tries to pay. Its amount follows the tax. */
function intentOf(provider: Provider, session: CheckoutSession): PaymentIntent {
  const existing = provider.state.get('paymentIntents', session.paymentIntent ?? '');
  if (existing?.amount === totalOf(session)) return existing;
  if (existing) {
    return provider.state.change('paymentIntents', existing.id, { amount: totalOf(session) });
  }
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
