/** Look-ups that fail with Stripe's `resource_missing`. */
import { resourceMissing } from '../http/errors.ts';
import type { Charge } from '../objects/charge.ts';
import type { Customer } from '../objects/customer.ts';
import type { Provider } from '../provider.ts';
import type { Row } from '../state/tables.ts';

/** The names of objects in Stripe's messages. */
const KINDS = {
  balanceTransactions: 'balance_transaction',
  charges: 'charge',
  checkoutSessions: 'checkout.session',
  customers: 'customer',
  deliveries: 'delivery',
  disputes: 'dispute',
  events: 'event',
  fraudWarnings: 'early_fraud_warning',
  invoices: 'invoice',
  paymentIntents: 'payment_intent',
  paymentMethods: 'PaymentMethod',
  payouts: 'payout',
  portalSessions: 'billing_portal.session',
  refunds: 'refund',
  webhookEndpoints: 'webhook endpoint',
} as const;

/** The row `id`, or 404; 400 if the identifier came from a parameter named `param`. */
export function getRow<T extends keyof typeof KINDS>(
  provider: Provider,
  table: T,
  id: string,
  param?: string,
): Row<T> {
  const row = provider.state.get(table, id);
  if (row === undefined) throw resourceMissing(KINDS[table], id, param);
  return row;
}

/** A customer that has not been deleted. */
export function getLiveCustomer(provider: Provider, id: string, param?: string): Customer {
  const customer = getRow(provider, 'customers', id, param);
  if (customer.deleted) throw resourceMissing(KINDS.customers, id, param);
  return customer;
}

/** The charge that moved the money of a payment intent, or the charge itself. */
export function getCharge(provider: Provider, payment: string, param?: string): Charge {
  if (!payment.startsWith('pi_')) return getRow(provider, 'charges', payment, param);
  const { latestCharge } = getRow(provider, 'paymentIntents', payment, param);
  return getRow(provider, 'charges', latestCharge ?? '(none)', param);
}
