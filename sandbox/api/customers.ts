/** `/v1/customers` */
import { createCustomer } from '../actions/create-customer.ts';
import { deleteCustomer } from '../actions/delete-customer.ts';
import { getLiveCustomer, getRow } from '../actions/find.ts';
import { attachPaymentMethod } from '../actions/save-payment-method.ts';
import { refused } from '../http/errors.ts';
import { emptyable, metadata, object, optional, readParams, text } from '../http/params.ts';
import { renderCustomer, renderLiveCustomer } from '../objects/customer.ts';
import { emit } from '../provider.ts';
import type { ApiRoute, Call } from './call.ts';
import { CREATED, listPage } from './list.ts';
import { mergeMetadata } from './metadata.ts';
import { getPaymentMethod, listPaymentMethods } from './payment-methods.ts';

export const customerRoutes: readonly ApiRoute[] = [
  { method: 'POST', path: '/v1/customers', handle: create },
  { method: 'GET', path: '/v1/customers', handle: list },
  { method: 'GET', path: '/v1/customers/:id', handle: retrieve },
  { method: 'POST', path: '/v1/customers/:id', handle: update },
  { method: 'DELETE', path: '/v1/customers/:id', handle: remove },
  { method: 'GET', path: '/v1/customers/:id/payment_methods', handle: paymentMethods },
];

const DETAILS = {
  email: optional(emptyable(text({ max: 512 }))),
  name: optional(emptyable(text({ max: 256 }))),
  phone: optional(emptyable(text({ max: 20 }))),
  description: optional(emptyable(text())),
  metadata: optional(emptyable(metadata())),
};

function create({ provider, form }: Call) {
  const { payment_method, ...details } = readParams(form, { ...DETAILS, payment_method: optional(text()) });
  const method = payment_method === undefined ? null : getPaymentMethod(provider, payment_method);
  const customer = createCustomer(provider, {
    email: details.email ?? null,
    name: details.name ?? null,
    phone: details.phone ?? null,
    description: details.description ?? null,
    metadata: mergeMetadata({}, details.metadata),
  });
  if (method !== null) attachPaymentMethod(provider, method.id, customer.id);
  return renderCustomer(customer);
}

function retrieve({ provider, id }: Call) {
  return renderCustomer(getRow(provider, 'customers', id));
}

function update({ provider, id, form }: Call) {
  const params = readParams(form, {
    ...DETAILS,
    invoice_settings: optional(object({ default_payment_method: optional(emptyable(text())) })),
  });
  const before = getLiveCustomer(provider, id);
  const chosen = params.invoice_settings?.default_payment_method;
  if (typeof chosen === 'string' && provider.state.get('paymentMethods', chosen)?.customer !== id) {
    throw refused(`The customer does not have a payment method with the ID ${chosen}.`, {
      code: 'resource_missing',
      param: 'invoice_settings[default_payment_method]',
    });
  }
  const customer = provider.state.put('customers', {
    ...before,
    email: params.email === undefined ? before.email : params.email,
    name: params.name === undefined ? before.name : params.name,
    phone: params.phone === undefined ? before.phone : params.phone,
    description: params.description === undefined ? before.description : params.description,
    metadata: mergeMetadata(before.metadata, params.metadata),
    defaultPaymentMethod: chosen === undefined ? before.defaultPaymentMethod : chosen,
  });
  emit(provider, 'customer.updated', renderLiveCustomer(customer), changes(before, customer));
  return renderCustomer(customer);
}

function remove({ provider, id, form }: Call) {
  readParams(form, {});
  getLiveCustomer(provider, id);
  return renderCustomer(deleteCustomer(provider, id));
}

function list({ provider, form }: Call) {
  return listPage(form, {
    url: '/v1/customers',
    rows: provider.state.all('customers').filter(({ deleted }) => !deleted),
    filters: { ...CREATED, email: optional(text()) },
    keep: ({ email }, filters) => filters.email === undefined || email === filters.email,
    render: renderCustomer,
  });
}

function paymentMethods({ provider, id, form }: Call) {
  getLiveCustomer(provider, id);
  return listPaymentMethods(provider, form, `/v1/customers/${id}/payment_methods`, id);
}

/** The previous values of the fields that differ. */
function changes(
  before: Parameters<typeof renderLiveCustomer>[0],
  after: Parameters<typeof renderLiveCustomer>[0],
): Record<string, unknown> {
  const old: Record<string, unknown> = renderLiveCustomer(before);
  const fresh: Record<string, unknown> = renderLiveCustomer(after);
  const differs = ([name, value]: [string, unknown]) => JSON.stringify(value) !== JSON.stringify(fresh[name]);
  return Object.fromEntries(Object.entries(old).filter(differs));
}
