/**
 * What a test or a person can trigger that a Stripe client cannot: pay as the buyer, dispute
 * as the cardholder, settle as the bank, and inject faults into calls and deliveries.
 *
 * Identifiers are Stripe's. A payment is named by its payment intent or its charge. An action
 * that its state does not allow throws an `ApiError`.
 */
import {
  authenticatePayment,
  type Buyer,
  expireCheckout,
  payCheckout,
  settlePayment,
} from '../actions/checkout.ts';
import { createPayout, type PayoutRequest } from '../actions/create-payout.ts';
import { deleteCustomer } from '../actions/delete-customer.ts';
import {
  appealDispute,
  type DisputeDecision,
  type DisputeRequest,
  loseDispute,
  openDispute,
  winDispute,
} from '../actions/dispute-charge.ts';
import { getCharge, getLiveCustomer, getRow } from '../actions/find.ts';
import { type RefundRequest, refundCharge, settleRefund } from '../actions/refund-charge.ts';
import {
  attachPaymentMethod,
  createPaymentMethod,
  detachPaymentMethod,
  updatePaymentMethod,
} from '../actions/save-payment-method.ts';
import { warnOfFraud } from '../actions/warn-of-fraud.ts';
import type { Fault, Faults } from '../faults.ts';
import { invalidRequest } from '../http/errors.ts';
import { findInstrument, type Instrument } from '../objects/cards.ts';
import { renderCheckoutSession } from '../objects/checkout-session.ts';
import { renderCustomer } from '../objects/customer.ts';
import type { Delivery } from '../objects/delivery.ts';
import { renderDispute } from '../objects/dispute.ts';
import { renderFraudWarning } from '../objects/fraud-warning.ts';
import { type PaymentIntent, renderPaymentIntent } from '../objects/payment-intent.ts';
import { renderPaymentMethod } from '../objects/payment-method.ts';
import { renderPayout } from '../objects/payout.ts';
import { renderRefund } from '../objects/refund.ts';
import { type Provider, perform } from '../provider.ts';

/** New details of a saved card; `card` is another test card number. */
export interface CardChange {
  readonly card?: string | undefined;
  readonly expMonth?: number | undefined;
  readonly expYear?: number | undefined;
}

/** `card` is a test card or bank debit. */
export interface Payment extends Omit<Buyer, 'email'> {
  readonly card: string;
  readonly email?: string | undefined;
}

export class Control {
  readonly #provider: Provider;
  readonly #faults: Faults;

  constructor(provider: Provider, faults: Faults) {
    this.#provider = provider;
    this.#faults = faults;
  }

  /** Pay an open checkout session with a test card or bank debit. Returns the payment intent. */
  pay(session: string, { card, email = 'buyer@example.com', ...buyer }: Payment) {
    const instrument = getInstrument(card);
    return this.#render(
      this.#act(() =>
        payCheckout(this.#provider, getRow(this.#provider, 'checkoutSessions', session), instrument, {
          ...buyer,
          email,
        }),
      ),
    );
  }

  /** Answer the authentication request of a payment that requires action. */
  authenticate(paymentIntent: string, { confirmed }: { confirmed: boolean }) {
    return this.#render(this.#act(() => authenticatePayment(this.#provider, paymentIntent, confirmed)));
  }

  /** Settle or return a bank debit. Default: the debit chosen on the page decides. */
  settle(paymentIntent: string, outcome?: 'succeeded' | 'failed') {
    return this.#render(this.#act(() => settlePayment(this.#provider, paymentIntent, outcome)));
  }

  expireCheckout(session: string) {
    const expired = this.#act(() =>
      expireCheckout(this.#provider, getRow(this.#provider, 'checkoutSessions', session)),
    );
    return renderCheckoutSession(expired, this.#provider.publicUrl);
  }

  /** Give money back, as a person in the merchant's dashboard would. */
  refund(payment: string, request: RefundRequest = {}) {
    return renderRefund(
      this.#act(() => refundCharge(this.#provider, getCharge(this.#provider, payment), request)),
    );
  }

  /** Finish a pending refund, or make one that had succeeded fail. */
  settleRefund(refund: string, outcome: 'succeeded' | 'failed') {
    return renderRefund(
      this.#act(() => settleRefund(this.#provider, getRow(this.#provider, 'refunds', refund), outcome)),
    );
  }

  dispute(payment: string, request: DisputeRequest = {}) {
    return renderDispute(
      this.#act(() => openDispute(this.#provider, getCharge(this.#provider, payment), request)),
    );
  }

  winDispute(dispute: string, decision: DisputeDecision = {}) {
    return renderDispute(
      this.#act(() => winDispute(this.#provider, getRow(this.#provider, 'disputes', dispute), decision)),
    );
  }

  loseDispute(dispute: string) {
    return renderDispute(
      this.#act(() => loseDispute(this.#provider, getRow(this.#provider, 'disputes', dispute))),
    );
  }

  appealDispute(dispute: string) {
    return renderDispute(
      this.#act(() => appealDispute(this.#provider, getRow(this.#provider, 'disputes', dispute))),
    );
  }

  warnOfFraud(payment: string) {
    return renderFraudWarning(
      this.#act(() => warnOfFraud(this.#provider, getCharge(this.#provider, payment))),
    );
  }

  /** Pay out the balance to the merchant's bank. */
  payOut(request: PayoutRequest = {}) {
    return renderPayout(this.#act(() => createPayout(this.#provider, request)));
  }

  deleteCustomer(customer: string) {
    return renderCustomer(
      this.#act(() => deleteCustomer(this.#provider, getLiveCustomer(this.#provider, customer).id)),
    );
  }

  /** Save a test card for a customer without a payment. */
  saveCard(customer: string, card: string) {
    const instrument = getInstrument(card);
    return renderPaymentMethod(
      this.#act(() => {
        const { id } = getLiveCustomer(this.#provider, customer);
        return attachPaymentMethod(this.#provider, createPaymentMethod(this.#provider, instrument).id, id);
      }),
    );
  }

  /** Renew a saved card as the card network does. */
  renewCard(paymentMethod: string, change: CardChange) {
    const instrument = change.card === undefined ? undefined : getInstrument(change.card);
    return renderPaymentMethod(
      this.#act(() => {
        const method = getRow(this.#provider, 'paymentMethods', paymentMethod);
        const fields = {
          expMonth: change.expMonth ?? method.expMonth,
          expYear: change.expYear ?? method.expYear,
          ...(instrument === undefined ? {} : { instrument }),
        };
        return updatePaymentMethod(this.#provider, method, fields, { automatic: true });
      }),
    );
  }

  detachCard(paymentMethod: string) {
    return renderPaymentMethod(
      this.#act(() =>
        detachPaymentMethod(this.#provider, getRow(this.#provider, 'paymentMethods', paymentMethod)),
      ),
    );
  }

  /** The addresses that events are delivered to. */
  endpoints(): string[] {
    return this.#provider.webhooks.endpoints().map(({ url }) => url);
  }

  /** Every delivery, oldest first, with its attempts. */
  deliveries(): Delivery[] {
    return this.#provider.state.all('deliveries');
  }

  /** Send one delivery again. */
  redeliver(delivery: string): Promise<Delivery> {
    return this.#provider.webhooks.redeliver(getRow(this.#provider, 'deliveries', delivery).id);
  }

  /** Send the deliveries that `reorder` faults held back, newest first by default. */
  release(order: 'created' | 'reversed' = 'reversed'): Promise<Delivery[]> {
    return this.#provider.webhooks.release(order);
  }

  /** Resolves when every delivery has been accepted or has failed. Held ones do not count. */
  idle(): Promise<void> {
    return this.#provider.webhooks.idle();
  }

  /** Queue a fault. */
  fault(fault: Fault): void {
    this.#faults.add(fault);
  }

  waitingFaults() {
    return this.#faults.waiting();
  }

  clearFaults(): void {
    this.#faults.clear();
  }

  #act<T>(work: () => T): T {
    return perform(this.#provider, null, work).result;
  }

  #render(intent: PaymentIntent) {
    return renderPaymentIntent(intent, this.#provider.publicUrl);
  }
}

function getInstrument(name: string): Instrument {
  const instrument = findInstrument(name);
  if (instrument === undefined)
    throw invalidRequest('That is not a test card of the sandbox.', { param: 'card' });
  return instrument;
}
