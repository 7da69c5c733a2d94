/**
 * What a test or a person can make happen that no Stripe client can: pay as the buyer, dispute
 * as the cardholder, settle as the bank, and spoil calls and deliveries.
 *
 * Identifiers are Stripe's; a payment is named by its payment intent or its charge. What is
 * asked for out of turn throws an `ApiError`.
 */
import { authenticatePayment, expireCheckout, payCheckout, settlePayment } from '../actions/checkout.ts';
import { deleteCustomer } from '../actions/delete-customer.ts';
import { type DisputeRequest, loseDispute, openDispute, winDispute } from '../actions/dispute-charge.ts';
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
import { renderDispute } from '../objects/dispute.ts';
import { renderFraudWarning } from '../objects/fraud-warning.ts';
import { type PaymentIntent, renderPaymentIntent } from '../objects/payment-intent.ts';
import { renderPaymentMethod } from '../objects/payment-method.ts';
import { renderRefund } from '../objects/refund.ts';
import { type Provider, perform } from '../provider.ts';
import type { Delivery } from '../webhooks/delivery.ts';

export type Control = ReturnType<typeof createControl>;

/** New details of a saved card; `card` is another test card number. */
export interface CardChange {
  readonly card?: string | undefined;
  readonly expMonth?: number | undefined;
  readonly expYear?: number | undefined;
}

export function createControl(provider: Provider, faults: Faults) {
  const { state } = provider;
  const act = <T>(work: () => T): T => perform(provider, null, work).result;
  const render = (intent: PaymentIntent) => renderPaymentIntent(intent, provider.publicUrl);

  return {
    /** Pay an open checkout session with a test card or bank debit. Returns the payment intent. */
    pay(
      session: string,
      { card, email = 'buyer@example.com' }: { card: string; email?: string | undefined },
    ) {
      const instrument = getInstrument(card);
      return render(
        act(() => payCheckout(provider, getRow(provider, 'checkoutSessions', session), instrument, email)),
      );
    },

    /** Answer the bank's question about a payment that requires action. */
    authenticate(paymentIntent: string, { confirmed }: { confirmed: boolean }) {
      return render(act(() => authenticatePayment(provider, paymentIntent, confirmed)));
    },

    /** Let a bank debit arrive or come back; left out, the debit chosen on the page decides. */
    settle(paymentIntent: string, outcome?: 'succeeded' | 'failed') {
      return render(act(() => settlePayment(provider, paymentIntent, outcome)));
    },

    expireCheckout(session: string) {
      const expired = act(() => expireCheckout(provider, getRow(provider, 'checkoutSessions', session)));
      return renderCheckoutSession(expired, provider.publicUrl);
    },

    /** Give money back, as a person in the merchant's dashboard would. */
    refund(payment: string, request: RefundRequest = {}) {
      return renderRefund(act(() => refundCharge(provider, getCharge(provider, payment), request)));
    },

    /** Finish a pending refund, or make one that had succeeded fail. */
    settleRefund(refund: string, outcome: 'succeeded' | 'failed') {
      return renderRefund(act(() => settleRefund(provider, getRow(provider, 'refunds', refund), outcome)));
    },

    dispute(payment: string, request: DisputeRequest = {}) {
      return renderDispute(act(() => openDispute(provider, getCharge(provider, payment), request)));
    },

    winDispute(dispute: string) {
      return renderDispute(act(() => winDispute(provider, getRow(provider, 'disputes', dispute))));
    },

    loseDispute(dispute: string) {
      return renderDispute(act(() => loseDispute(provider, getRow(provider, 'disputes', dispute))));
    },

    warnOfFraud(payment: string) {
      return renderFraudWarning(act(() => warnOfFraud(provider, getCharge(provider, payment))));
    },

    deleteCustomer(customer: string) {
      return renderCustomer(act(() => deleteCustomer(provider, getLiveCustomer(provider, customer).id)));
    },

    /** Save a test card for a customer without a payment. */
    saveCard(customer: string, card: string) {
      const instrument = getInstrument(card);
      return renderPaymentMethod(
        act(() => {
          const { id } = getLiveCustomer(provider, customer);
          return attachPaymentMethod(provider, createPaymentMethod(provider, instrument).id, id);
        }),
      );
    },

    /** Renew a saved card as the card network does. */
    renewCard(paymentMethod: string, change: CardChange) {
      const instrument = change.card === undefined ? undefined : getInstrument(change.card);
      return renderPaymentMethod(
        act(() => {
          const method = getRow(provider, 'paymentMethods', paymentMethod);
          const fields = {
            expMonth: change.expMonth ?? method.expMonth,
            expYear: change.expYear ?? method.expYear,
            ...(instrument === undefined ? {} : { instrument }),
          };
          return updatePaymentMethod(provider, method, fields, { automatic: true });
        }),
      );
    },

    detachCard(paymentMethod: string) {
      return renderPaymentMethod(
        act(() => detachPaymentMethod(provider, getRow(provider, 'paymentMethods', paymentMethod))),
      );
    },

    /** Every delivery, oldest first, with its attempts. */
    deliveries(): Delivery[] {
      return state.all('deliveries');
    },

    /** Send one delivery again. */
    redeliver(delivery: string): Promise<Delivery> {
      return provider.webhooks.redeliver(getRow(provider, 'deliveries', delivery).id);
    },

    /** Send the deliveries that `reorder` faults held back, newest first unless told otherwise. */
    release(order: 'created' | 'reversed' = 'reversed'): Promise<Delivery[]> {
      return provider.webhooks.release(order);
    },

    /** Resolves when every delivery has been accepted or given up. Held ones do not count. */
    idle(): Promise<void> {
      return provider.webhooks.idle();
    },

    /** Queue a fault. */
    fault(fault: Fault): void {
      faults.add(fault);
    },

    waitingFaults() {
      return faults.waiting();
    },

    clearFaults(): void {
      faults.clear();
    },
  };
}

function getInstrument(name: string): Instrument {
  const instrument = findInstrument(name);
  if (instrument === undefined)
    throw invalidRequest('That is not a test card of the sandbox.', { param: 'card' });
  return instrument;
}
