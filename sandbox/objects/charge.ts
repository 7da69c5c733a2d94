/** Charges: one attempt to move money for a payment intent. */
import type { Decline } from './cards.ts';
import { type PaymentMethod, renderBillingDetails, renderMethodDetails } from './payment-method.ts';

export interface Charge {
  readonly id: string;
  readonly created: number;
  readonly paymentIntent: string;
  /** Cents. */
  readonly amount: number;
  readonly amountRefunded: number;
  readonly currency: string;
  readonly customer: string | null;
  readonly description: string | null;
  readonly metadata: Record<string, string>;
  /** The payment method as it was when charged. */
  readonly paymentMethod: PaymentMethod;
  readonly status: 'succeeded' | 'pending' | 'failed';
  readonly failure: Decline | null;
  readonly disputed: boolean;
  readonly balanceTransaction: string | null;
}

/** `publicUrl` is the base URL of the receipt. */
export function renderCharge(charge: Charge, publicUrl: string) {
  const succeeded = charge.status === 'succeeded';
  return {
    id: charge.id,
    object: 'charge',
    amount: charge.amount,
    amount_captured: succeeded ? charge.amount : 0,
    amount_refunded: charge.amountRefunded,
    application: null,
    application_fee: null,
    application_fee_amount: null,
    balance_transaction: charge.balanceTransaction,
    billing_details: renderBillingDetails(charge.paymentMethod),
    calculated_statement_descriptor: null,
    captured: succeeded,
    created: charge.created,
    currency: charge.currency,
    customer: charge.customer,
    description: charge.description,
    disputed: charge.disputed,
    failure_balance_transaction: null,
    failure_code: charge.failure?.code ?? null,
    failure_message: charge.failure?.message ?? null,
    fraud_details: {},
    livemode: false,
    metadata: charge.metadata,
    on_behalf_of: null,
    outcome: renderOutcome(charge),
    paid: succeeded,
    payment_intent: charge.paymentIntent,
    payment_method: charge.paymentMethod.id,
    payment_method_details: renderMethodDetails(charge.paymentMethod),
    receipt_email: null,
    receipt_number: null,
    receipt_url: succeeded ? receiptUrl(charge, publicUrl) : null,
    refunded: succeeded && charge.amountRefunded === charge.amount,
    review: null,
    shipping: null,
    source: null,
    source_transfer: null,
    statement_descriptor: null,
    statement_descriptor_suffix: null,
    status: charge.status,
    transfer_data: null,
    transfer_group: null,
  };
}

function receiptUrl({ id }: Charge, publicUrl: string): string {
  return `${publicUrl}/receipts/${id}`;
}

function renderOutcome({ status, failure }: Charge) {
  if (status === 'pending') return null;
  return {
    advice_code: failure?.adviceCode ?? null,
    network_advice_code: null,
    network_decline_code: failure?.networkDeclineCode ?? null,
    network_status: failure === null ? 'approved_by_network' : 'declined_by_network',
    reason: failure?.declineCode ?? null,
    risk_level: 'normal',
    risk_score: 20,
    seller_message: failure === null ? 'Payment complete.' : 'The bank declined the payment.',
    type: failure === null ? 'authorized' : 'issuer_declined',
  };
}
