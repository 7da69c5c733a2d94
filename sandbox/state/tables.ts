/** The tables of the sandbox and the type of their rows. */
import type { BalanceTransaction } from '../objects/balance-transaction.ts';
import type { Charge } from '../objects/charge.ts';
import type { CheckoutSession } from '../objects/checkout-session.ts';
import type { Customer } from '../objects/customer.ts';
import type { Delivery } from '../objects/delivery.ts';
import type { Dispute } from '../objects/dispute.ts';
import type { Event } from '../objects/event.ts';
import type { FraudWarning } from '../objects/fraud-warning.ts';
import type { Invoice } from '../objects/invoice.ts';
import type { PaymentIntent } from '../objects/payment-intent.ts';
import type { PaymentMethod } from '../objects/payment-method.ts';
import type { Payout } from '../objects/payout.ts';
import type { PortalSession } from '../objects/portal-session.ts';
import type { Refund } from '../objects/refund.ts';
import type { WebhookEndpoint } from '../objects/webhook-endpoint.ts';
import type { StoredReply } from './stored-reply.ts';

interface Tables {
  balanceTransactions: BalanceTransaction;
  charges: Charge;
  checkoutSessions: CheckoutSession;
  customers: Customer;
  deliveries: Delivery;
  disputes: Dispute;
  events: Event;
  fraudWarnings: FraudWarning;
  invoices: Invoice;
  paymentIntents: PaymentIntent;
  paymentMethods: PaymentMethod;
  payouts: Payout;
  portalSessions: PortalSession;
  refunds: Refund;
  storedReplies: StoredReply;
  webhookEndpoints: WebhookEndpoint;
}

export type TableName = keyof Tables;
export type Row<T extends TableName> = Tables[T];

export function emptyTables(): { [T in TableName]: Map<string, Row<T>> } {
  return {
    balanceTransactions: new Map(),
    charges: new Map(),
    checkoutSessions: new Map(),
    customers: new Map(),
    deliveries: new Map(),
    disputes: new Map(),
    events: new Map(),
    fraudWarnings: new Map(),
    invoices: new Map(),
    paymentIntents: new Map(),
    paymentMethods: new Map(),
    payouts: new Map(),
    portalSessions: new Map(),
    refunds: new Map(),
    storedReplies: new Map(),
    webhookEndpoints: new Map(),
  };
}
