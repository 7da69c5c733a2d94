/** `/v1/payment_methods` */
import { getLiveCustomer } from '../actions/find.ts';
import {
  assertUsable,
  attachPaymentMethod,
  createPaymentMethod,
  detachPaymentMethod,
  refusalToSave,
  updatePaymentMethod,
} from '../actions/save-payment-method.ts';
import { cardError, refused, resourceMissing } from '../http/errors.ts';
import type { FormObject } from '../http/form.ts';
import {
  emptyable,
  ignored,
  integer,
  metadata,
  object,
  oneOf,
  optional,
  readParams,
  required,
  text,
} from '../http/params.ts';
import { findInstrument, type Instrument } from '../objects/cards.ts';
import { instrumentOf, type PaymentMethod, renderPaymentMethod } from '../objects/payment-method.ts';
import type { Provider } from '../provider.ts';
import type { ApiRoute, Call } from './call.ts';
import { listPage } from './list.ts';
import { mergeMetadata } from './metadata.ts';

export const paymentMethodRoutes: readonly ApiRoute[] = [
  { method: 'POST', path: '/v1/payment_methods', handle: create },
  { method: 'GET', path: '/v1/payment_methods', handle: list },
  { method: 'GET', path: '/v1/payment_methods/:id', handle: retrieve },
  { method: 'POST', path: '/v1/payment_methods/:id', handle: update },
  { method: 'POST', path: '/v1/payment_methods/:id/attach', handle: attach },
  { method: 'POST', path: '/v1/payment_methods/:id/detach', handle: detach },
];

/** The payment method, or a new one if `id` is one of the ready-made `pm_card_...` names. */
export function getPaymentMethod(provider: Provider, id: string, param?: string): PaymentMethod {
  const method = provider.state.get('paymentMethods', id);
  if (method !== undefined) return method;
  const instrument = id.startsWith('pm_') ? findInstrument(id) : undefined;
  if (instrument === undefined) throw resourceMissing('PaymentMethod', id, param);
  return createPaymentMethod(provider, instrument);
}

/** The list of payment methods of one customer, or of the one in the filter. */
export function listPaymentMethods(provider: Provider, form: FormObject, url: string, owner?: string) {
  return listPage(form, {
    url,
    rows: provider.state.all('paymentMethods').filter(({ detached }) => !detached),
    filters: { type: optional(text()), ...(owner === undefined ? { customer: optional(text()) } : {}) },
    keep: (method, filters) => {
      const customer = owner ?? filters.customer;
      const sameType = filters.type === undefined || instrumentOf(method).type === filters.type;
      return sameType && (customer === undefined || method.customer === customer);
    },
    render: renderPaymentMethod,
  });
}

function create({ provider, form }: Call) {
  const params = readParams(form, {
    type: required(oneOf('card')),
    card: required(
      object({
        number: required(text()),
        exp_month: optional(integer({ min: 1, max: 12 })),
        exp_year: optional(integer()),
        cvc: optional(ignored()),
      }),
    ),
    billing_details: optional(object({ email: optional(text()), name: optional(text()) })),
    metadata: optional(metadata()),
  });
  const instrument = getCard(params.card.number);
  const { exp_month, exp_year } = params.card;
  const method = createPaymentMethod(provider, instrument, {
    email: params.billing_details?.email ?? null,
    name: params.billing_details?.name ?? null,
    metadata: mergeMetadata({}, params.metadata),
    ...(exp_month === undefined ? {} : { expMonth: exp_month }),
    ...(exp_year === undefined ? {} : { expYear: exp_year }),
  });
  return renderPaymentMethod(method);
}

function retrieve({ provider, id }: Call) {
  return renderPaymentMethod(getPaymentMethod(provider, id));
}

function update({ provider, id, form }: Call) {
  const params = readParams(form, {
    card: optional(
      object({ exp_month: optional(integer({ min: 1, max: 12 })), exp_year: optional(integer()) }),
    ),
    metadata: optional(emptyable(metadata())),
  });
  const method = getPaymentMethod(provider, id);
  if (method.customer === null)
    throw refused('You must save this PaymentMethod to a customer before you can update it.');
  const { exp_month = method.expMonth, exp_year = method.expYear } = params.card ?? {};
  const change = {
    expMonth: exp_month,
    expYear: exp_year,
    metadata: mergeMetadata(method.metadata, params.metadata),
  };
  return renderPaymentMethod(updatePaymentMethod(provider, method, change, { automatic: false }));
}

function attach({ provider, id, form }: Call) {
  const params = readParams(form, { customer: required(text()) });
  const customer = getLiveCustomer(provider, params.customer, 'customer');
  const method = getPaymentMethod(provider, id);
  assertUsable(method, 'payment_method');
  if (method.customer === customer.id) return renderPaymentMethod(method);
  if (method.customer !== null) {
    throw refused('The payment method you provided has already been attached to a customer.', {
      code: 'payment_method_unexpected_state',
    });
  }
  const refusal = refusalToSave(instrumentOf(method));
  if (refusal !== null) throw declined(instrumentOf(method), refusal);
  return renderPaymentMethod(attachPaymentMethod(provider, method.id, customer.id));
}

function detach({ provider, id, form }: Call) {
  readParams(form, {});
  const method = getPaymentMethod(provider, id);
  if (method.customer === null) {
    throw refused(
      'The payment method you provided is not attached to a customer so detachment is impossible.',
      {
        code: 'payment_method_unexpected_state',
      },
    );
  }
  return renderPaymentMethod(detachPaymentMethod(provider, method));
}

function list({ provider, form }: Call) {
  return listPaymentMethods(provider, form, '/v1/payment_methods');
}

function getCard(number: string): Instrument {
  const instrument = findInstrument(number);
  if (instrument?.type === 'card') return instrument;
  throw cardError('Your card was declined. The sandbox accepts test card numbers only.', {
    code: 'card_declined',
    decline_code: 'live_mode_test_card',
    param: 'number',
  });
}

function declined({ behaviour }: Instrument, message: string) {
  const decline = behaviour.kind === 'declines' ? behaviour.decline : undefined;
  return cardError(message, {
    code: decline?.code ?? 'card_declined',
    decline_code: decline?.declineCode ?? 'generic_decline',
    ...(typeof decline?.adviceCode === 'string' ? { advice_code: decline.adviceCode } : {}),
  });
}
