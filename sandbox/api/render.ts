/** Finds and renders any object by its identifier, for `expand` and the control API. */
import { renderCharge } from '../objects/charge.ts';
import { renderCheckoutSession, renderLineItem } from '../objects/checkout-session.ts';
import { renderCustomer } from '../objects/customer.ts';
import { renderPaymentIntent } from '../objects/payment-intent.ts';
import { renderPaymentMethod } from '../objects/payment-method.ts';
import { renderRefund } from '../objects/refund.ts';
import type { Provider } from '../provider.ts';
import { wholeList } from './list.ts';

/** The object with an identifier that another object contains, or undefined. */
export function renderById(provider: Provider, id: string): object | undefined {
  const { state, publicUrl } = provider;
  const customer = state.get('customers', id);
  if (customer !== undefined) return renderCustomer(customer);
  const intent = state.get('paymentIntents', id);
  if (intent !== undefined) return renderPaymentIntent(intent, publicUrl);
  const charge = state.get('charges', id);
  if (charge !== undefined) return renderCharge(charge);
  const method = state.get('paymentMethods', id);
  if (method !== undefined) return renderPaymentMethod(method);
  const session = state.get('checkoutSessions', id);
  return session === undefined ? undefined : renderCheckoutSession(session, publicUrl);
}

/** The lists that are only included by `expand`: the line items of a session, the refunds of a charge. */
export function renderIncluded(provider: Provider, owner: string, name: string): object | undefined {
  const session = provider.state.get('checkoutSessions', owner);
  if (session !== undefined && name === 'line_items') {
    const items = session.lineItems.map((item) => renderLineItem(item, session.currency));
    return wholeList(`/v1/checkout/sessions/${owner}/line_items`, items);
  }
  const charge = provider.state.get('charges', owner);
  if (charge !== undefined && name === 'refunds') {
    const refunds = provider.state.all('refunds').filter((refund) => refund.charge === owner);
    return wholeList(`/v1/charges/${owner}/refunds`, refunds.reverse().map(renderRefund));
  }
  return undefined;
}
