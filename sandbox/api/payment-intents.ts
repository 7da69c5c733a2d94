/** `/v1/payment_intents` */
import { cancelIntent, settleLater } from '../actions/checkout.ts';
import { createPaymentIntent } from '../actions/create-payment-intent.ts';
import { getLiveCustomer, getRow } from '../actions/find.ts';
import { type Mode, payIntent } from '../actions/pay-intent.ts';
import { assertUsable } from '../actions/save-payment-method.ts';
import { cardError, invalidRequest, refused } from '../http/errors.ts';
import {
  boolean,
  currency,
  ignored,
  integer,
  list,
  metadata,
  object,
  oneOf,
  optional,
  readParams,
  required,
  text,
  url,
} from '../http/params.ts';
import { declineDetails, type PaymentIntent, renderPaymentIntent } from '../objects/payment-intent.ts';
import { instrumentOf, type PaymentMethod } from '../objects/payment-method.ts';
import type { Provider } from '../provider.ts';
import type { ApiRoute, Call } from './call.ts';
import { CREATED, listPage } from './list.ts';
import { mergeMetadata } from './metadata.ts';
import { getPaymentMethod } from './payment-methods.ts';
import { searchPage } from './search.ts';

export const paymentIntentRoutes: readonly ApiRoute[] = [
  { method: 'POST', path: '/v1/payment_intents', handle: create },
  { method: 'GET', path: '/v1/payment_intents', handle: listAll },
  { method: 'GET', path: '/v1/payment_intents/search', handle: search },
  { method: 'GET', path: '/v1/payment_intents/:id', handle: retrieve },
  { method: 'POST', path: '/v1/payment_intents/:id/confirm', handle: confirm },
  { method: 'POST', path: '/v1/payment_intents/:id/cancel', handle: cancel },
];

const AMOUNT_MAX = 99_999_999;
const USD_AMOUNT_MIN = 50;

const CONFIRMATION = {
  payment_method: optional(text()),
  off_session: optional(boolean()),
  error_on_requires_action: optional(boolean()),
  return_url: optional(url()),
  receipt_email: optional(text()),
  setup_future_usage: optional(oneOf('off_session', 'on_session')),
  use_stripe_sdk: optional(ignored()),
  payment_method_options: optional(
    object({
      card: optional(
        object({
          request_three_d_secure: optional(ignored()),
          setup_credential_usage: optional(ignored()),
          stored_credential_usage: optional(ignored()),
        }),
      ),
    }),
  ),
};

const CREATION = {
  ...CONFIRMATION,
  amount: required(integer({ min: 1 })),
  currency: required(currency()),
  customer: optional(text()),
  confirm: optional(boolean()),
  description: optional(text({ max: 1000 })),
  metadata: optional(metadata()),
  statement_descriptor: optional(text({ max: 22 })),
  statement_descriptor_suffix: optional(text({ max: 22 })),
  allowed_payment_method_types: optional(list(oneOf('card', 'us_bank_account'))),
  automatic_payment_methods: optional(
    object({ enabled: required(boolean()), allow_redirects: optional(oneOf('always', 'never')) }),
  ),
  capture_method: optional(oneOf('automatic', 'automatic_async')),
  confirmation_method: optional(oneOf('automatic')),
};

function create({ provider, form }: Call) {
  const params = readParams(form, CREATION);
  checkAmount(params.amount, params.currency);
  if (params.off_session !== undefined && params.confirm !== true) {
    throw invalidRequest(
      'The parameter `off_session` cannot be passed when creating a PaymentIntent without `confirm`.',
      {
        param: 'off_session',
      },
    );
  }
  const customer =
    params.customer === undefined ? null : getLiveCustomer(provider, params.customer, 'customer');
  const method = chooseMethod(provider, params.payment_method, customer?.id ?? null);
  checkType(method, params.allowed_payment_method_types);

  const intent = createPaymentIntent(provider, {
    amount: params.amount,
    currency: params.currency,
    customer: customer?.id ?? null,
    description: params.description ?? null,
    metadata: mergeMetadata({}, params.metadata),
    status: method === null ? 'requires_payment_method' : 'requires_confirmation',
    paymentMethod: method?.id ?? null,
    setupFutureUsage: params.setup_future_usage ?? null,
    returnUrl: params.return_url ?? null,
    receiptEmail: params.receipt_email ?? null,
    statementDescriptor: params.statement_descriptor ?? null,
    statementDescriptorSuffix: params.statement_descriptor_suffix ?? null,
    allowedTypes: params.allowed_payment_method_types ?? null,
  });
  if (params.confirm !== true) return renderPaymentIntent(intent, provider.publicUrl);
  return attempt(provider, intent, method, modeOf(params));
}

function confirm({ provider, id, form }: Call) {
  const params = readParams(form, CONFIRMATION);
  const before = getRow(provider, 'paymentIntents', id);
  if (before.status !== 'requires_confirmation' && before.status !== 'requires_payment_method') {
    throw unexpectedState(provider, before, 'confirm');
  }
  const method = chooseMethod(
    provider,
    params.payment_method ?? before.paymentMethod ?? undefined,
    before.customer,
  );
  checkType(method, before.allowedTypes);
  const intent = provider.state.change('paymentIntents', id, {
    setupFutureUsage: params.setup_future_usage ?? before.setupFutureUsage,
    returnUrl: params.return_url ?? before.returnUrl,
    receiptEmail: params.receipt_email ?? before.receiptEmail,
  });
  return attempt(provider, intent, method, modeOf(params));
}

function retrieve({ provider, id, form }: Call) {
  readParams(form, { client_secret: optional(ignored()) });
  return renderPaymentIntent(getRow(provider, 'paymentIntents', id), provider.publicUrl);
}

function cancel({ provider, id, form }: Call) {
  const reasons = oneOf('abandoned', 'duplicate', 'fraudulent', 'requested_by_customer');
  const { cancellation_reason } = readParams(form, { cancellation_reason: optional(reasons) });
  const intent = getRow(provider, 'paymentIntents', id);
  if (provider.state.get('checkoutSessions', intent.checkoutSession ?? '')?.status === 'open') {
    throw refused(
      'You cannot cancel the PaymentIntent of an open Checkout Session. Expire the session instead.',
      {
        code: 'payment_intent_unexpected_state',
      },
    );
  }
  const canceled = cancelIntent(provider, intent, cancellation_reason ?? null);
  return renderPaymentIntent(canceled, provider.publicUrl);
}

function listAll({ provider, form }: Call) {
  return listPage(form, {
    url: '/v1/payment_intents',
    rows: provider.state.all('paymentIntents'),
    filters: { ...CREATED, customer: optional(text()) },
    keep: ({ customer }, filters) => filters.customer === undefined || customer === filters.customer,
    render: (intent) => renderPaymentIntent(intent, provider.publicUrl),
  });
}

function search({ provider, form }: Call) {
  return searchPage(form, {
    url: '/v1/payment_intents/search',
    rows: provider.state.all('paymentIntents'),
    fields: ({ amount, created, currency: code, customer, status }) => ({
      amount: String(amount),
      created: String(created),
      currency: code,
      customer: customer ?? '',
      status,
    }),
    render: (intent) => renderPaymentIntent(intent, provider.publicUrl),
  });
}

/** Try to pay. A decline is answered with 402 and the intent. */
function attempt(provider: Provider, intent: PaymentIntent, method: PaymentMethod | null, mode: Mode) {
  if (method === null) {
    throw refused('You cannot confirm this PaymentIntent because it is missing a payment method.', {
      code: 'payment_intent_unexpected_state',
      payment_intent: renderPaymentIntent(intent, provider.publicUrl),
    });
  }
  const tried = payIntent(provider, intent, method, mode);
  settleLater(provider, tried);
  const rendered = renderPaymentIntent(tried, provider.publicUrl);
  if (tried.lastError === null) return rendered;
  throw cardError(tried.lastError.decline.message, {
    ...declineDetails(tried.lastError),
    payment_intent: rendered,
  });
}

/** A saved card can only be charged for the customer who saved it. */
function chooseMethod(
  provider: Provider,
  id: string | undefined,
  customer: string | null,
): PaymentMethod | null {
  if (id === undefined) return null;
  const method = getPaymentMethod(provider, id, 'payment_method');
  assertUsable(method, 'payment_method');
  if (method.customer !== null && method.customer !== customer) {
    throw refused(
      `The customer does not have a payment method with the ID ${method.id}. The payment method must be attached to the customer.`,
      { param: 'payment_method' },
    );
  }
  return method;
}

function checkType(method: PaymentMethod | null, allowed: readonly string[] | null | undefined): void {
  if (method === null || allowed === null || allowed === undefined) return;
  const { type } = instrumentOf(method);
  if (!allowed.includes(type)) {
    throw refused(`The PaymentMethod's type ${type} is not allowed for this PaymentIntent.`, {
      code: 'payment_intent_incompatible_payment_method',
      param: 'payment_method',
    });
  }
}

/** Source: docs.stripe.com/currencies, minimum and maximum charge amounts. */
export function checkAmount(amount: number, code: string, param = 'amount'): void {
  if (code === 'usd' && amount < USD_AMOUNT_MIN) {
    throw invalidRequest('Amount must be at least $0.50 usd', { code: 'amount_too_small', param });
  }
  if (amount > AMOUNT_MAX) {
    throw invalidRequest('Amount must be no more than $999,999.99', { code: 'amount_too_large', param });
  }
}

function modeOf(params: {
  off_session?: boolean | undefined;
  error_on_requires_action?: boolean | undefined;
}): Mode {
  return {
    offSession: params.off_session ?? false,
    errorOnRequiresAction: params.error_on_requires_action ?? false,
  };
}

function unexpectedState(provider: Provider, intent: PaymentIntent, verb: string) {
  return refused(`You cannot ${verb} this PaymentIntent because it has a status of ${intent.status}.`, {
    code: 'payment_intent_unexpected_state',
    payment_intent: renderPaymentIntent(intent, provider.publicUrl),
  });
}
