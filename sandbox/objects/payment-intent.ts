/** Payment intents: one amount to be paid, in one or more attempts. */
import type { Decline } from './cards.ts';
import { type PaymentMethod, renderPaymentMethod } from './payment-method.ts';

export interface PaymentIntent {
  readonly id: string;
  readonly created: number;
  /** Cents. */
  readonly amount: number;
  readonly currency: string;
  readonly customer: string | null;
  readonly description: string | null;
  readonly metadata: Record<string, string>;
  readonly status: PaymentIntentStatus;
  readonly paymentMethod: string | null;
  readonly latestCharge: string | null;
  readonly lastError: LastError | null;
  readonly setupFutureUsage: 'off_session' | 'on_session' | null;
  /** The checkout session that it pays for. */
  readonly checkoutSession: string | null;
  /** Where the authentication page sends the buyer afterwards, if there is no checkout session. */
  readonly returnUrl: string | null;
  readonly receiptEmail: string | null;
  readonly statementDescriptor: string | null;
  readonly statementDescriptorSuffix: string | null;
  readonly allowedTypes: readonly string[] | null;
  readonly canceledAt: number | null;
  readonly cancellationReason: string | null;
}

export type PaymentIntentStatus =
  | 'canceled'
  | 'processing'
  | 'requires_action'
  | 'requires_confirmation'
  | 'requires_payment_method'
  | 'succeeded';

export interface LastError {
  readonly decline: Decline;
  readonly charge: string | null;
  readonly paymentMethod: PaymentMethod;
}

/** `publicUrl` is the base URL of the authentication page, for `next_action`. */
export function renderPaymentIntent(intent: PaymentIntent, publicUrl: string) {
  return {
    id: intent.id,
    object: 'payment_intent',
    allowed_payment_method_types: intent.allowedTypes,
    amount: intent.amount,
    amount_capturable: 0,
    amount_details: { tip: {} },
    amount_received: intent.status === 'succeeded' ? intent.amount : 0,
    application: null,
    application_fee_amount: null,
    automatic_payment_methods: null,
    canceled_at: intent.canceledAt,
    cancellation_reason: intent.cancellationReason,
    capture_method: 'automatic_async',
    client_secret: `${intent.id}_secret_sandbox`,
    confirmation_method: 'automatic',
    created: intent.created,
    currency: intent.currency,
    customer: intent.customer,
    customer_account: null,
    description: intent.description,
    excluded_payment_method_types: null,
    last_payment_error: intent.lastError === null ? null : renderLastError(intent.lastError),
    latest_charge: intent.latestCharge,
    livemode: false,
    managed_payments: null,
    metadata: intent.metadata,
    next_action: renderNextAction(intent, publicUrl),
    on_behalf_of: null,
    payment_method: intent.paymentMethod,
    payment_method_configuration_details: null,
    payment_method_options: {},
    payment_method_types: intent.allowedTypes ?? ['card', 'us_bank_account'],
    payment_record: null,
    processing: null,
    receipt_email: intent.receiptEmail,
    review: null,
    setup_future_usage: intent.setupFutureUsage,
    shipping: null,
    source: null,
    statement_descriptor: intent.statementDescriptor,
    statement_descriptor_suffix: intent.statementDescriptorSuffix,
    status: intent.status,
    transfer_data: null,
    transfer_group: null,
  };
}

/** The fields that a 402 answer and `last_payment_error` share. */
export function declineDetails({ decline, charge, paymentMethod }: LastError) {
  return {
    code: decline.code,
    decline_code: decline.declineCode,
    ...(decline.adviceCode === null ? {} : { advice_code: decline.adviceCode }),
    ...(decline.networkDeclineCode === null ? {} : { network_decline_code: decline.networkDeclineCode }),
    ...(charge === null ? {} : { charge }),
    payment_method: renderPaymentMethod(paymentMethod),
  };
}

/** The page where a buyer confirms a payment with the bank. */
export function authenticationUrl(intent: PaymentIntent, publicUrl: string): string {
  return `${publicUrl}/c/authenticate/${intent.id}`;
}

function renderLastError(error: LastError) {
  return {
    ...declineDetails(error),
    doc_url: `https://docs.stripe.com/error-codes/${error.decline.code.replaceAll('_', '-')}`,
    message: error.decline.message,
    type: 'card_error',
  };
}

function renderNextAction(intent: PaymentIntent, publicUrl: string) {
  if (intent.status !== 'requires_action') return null;
  return {
    redirect_to_url: { return_url: intent.returnUrl, url: authenticationUrl(intent, publicUrl) },
    type: 'redirect_to_url',
  };
}
