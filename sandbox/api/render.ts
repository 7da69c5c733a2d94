/** Finds and renders any object by its identifier, for `expand` and the control API. */
import { renderBalanceTransaction } from '../objects/balance-transaction.ts';
import { renderCharge } from '../objects/charge.ts';
import { renderCheckoutSession, renderLineItem } from '../objects/checkout-session.ts';
import { renderCustomer } from '../objects/customer.ts';
import { renderDispute } from '../objects/dispute.ts';
import { renderInvoice } from '../objects/invoice.ts';
import { renderPaymentIntent } from '../objects/payment-intent.ts';
import { renderPaymentMethod } from '../objects/payment-method.ts';
import { renderPayout } from '../objects/payout.ts';
import { renderRefund } from '../objects/refund.ts';
import { now, type Provider } from '../provider.ts';
import { wholeList } from './list.ts';

/** The object with an identifier that another object contains, or undefined. */
export function renderById(provider: Provider, id: string): object | undefined {
  const { state, publicUrl } = provider;
  const customer = state.get('customers', id);
  if (customer !== undefined) return renderCustomer(customer);
  const intent = state.get('paymentIntents', id);
  if (intent !== undefined) return renderPaymentIntent(intent, publicUrl);
  const charge = state.get('charges', id);
  if (charge !== undefined) return renderCharge(charge, publicUrl);
  const method = state.get('paymentMethods', id);
  if (method !== undefined) return renderPaymentMethod(method);
  const session = state.get('checkoutSessions', id);
  if (session !== undefined) return renderCheckoutSession(session, publicUrl);
  const invoice = state.get('invoices', id);
  if (invoice !== undefined) return renderInvoice(invoice, publicUrl);
  const refund = state.get('refunds', id);
  if (refund !== undefined) return renderRefund(refund);
  const dispute = state.get('disputes', id);
  if (dispute !== undefined) return renderDispute(dispute);
  const payout = state.get('payouts', id);
  if (payout !== undefined) return renderPayout(payout);
  const transaction = state.get('balanceTransactions', id);
  return transaction && renderBalanceTransaction(transaction, now(provider));
}

/** The lists that are only included by `expand`: the line items of a session, the refunds of a charge. */
export function renderIncluded(provider: Provider, owner: string, name: string): object | undefined {
  const session = provider.state.get('checkoutSessions', owner);
  if (session !== undefined && name === 'line_items') {
    const items = session.lineItems.map((item) => renderLineItem(item, session));
    return wholeList(`/v1/checkout/sessions/${owner}/line_items`, items);
  }
  const charge = provider.state.get('charges', owner);
  if (charge !== undefined && name === 'refunds') {
    const refunds = provider.state.all('refunds').filter((refund) => refund.charge === owner);
    return wholeList(`/v1/charges/${owner}/refunds`, refunds.reverse().map(renderRefund));
  }
  return undefined;
}
