/** Invoices of checkout sessions: made once the payment has succeeded, so always paid. */
import { type CheckoutSession, itemTax, renderAutomaticTax, subtotalOf, taxOf } from './checkout-session.ts';
import { renderAddress } from './customer.ts';

export interface Invoice {
  readonly id: string;
  readonly created: number;
  readonly number: string;
  readonly paymentIntent: string;
  readonly customerEmail: string | null;
  readonly customerName: string | null;
  readonly lineIds: readonly string[];
  /** The session as it was when it was paid. */
  readonly session: CheckoutSession;
}

export function invoiceUrl({ id }: Invoice, publicUrl: string): string {
  return `${publicUrl}/invoices/${id}`;
}

export function renderInvoice(invoice: Invoice, publicUrl: string) {
  const { session, created } = invoice;
  const { description = null, footer = null, metadata = {} } = session.invoiceCreation ?? {};
  const subtotal = subtotalOf(session);
  const total = subtotal + taxOf(session);
  return {
    id: invoice.id,
    object: 'invoice',
    account_country: 'US',
    account_name: null,
    account_tax_ids: null,
    amount_due: total,
    amount_overpaid: 0,
    amount_paid: total,
    amount_remaining: 0,
    amount_shipping: 0,
    application: null,
    attempt_count: 0,
    attempted: true,
    auto_advance: false,
    automatic_tax: { ...renderAutomaticTax(session), disabled_reason: null },
    automatically_finalizes_at: null,
    billing_reason: 'manual',
    collection_method: 'send_invoice',
    created,
    currency: session.currency,
    custom_fields: null,
    customer: session.customer,
    customer_account: null,
    customer_address: renderAddress(session.country),
    customer_email: invoice.customerEmail,
    customer_name: invoice.customerName,
    customer_phone: null,
    customer_shipping: null,
    customer_tax_exempt: 'none',
    customer_tax_ids: session.taxId ? [{ type: 'us_ein', value: session.taxId }] : [],
    default_payment_method: null,
    default_source: null,
    default_tax_rates: [],
    description,
    discounts: [],
    due_date: created,
    effective_at: created,
    ending_balance: 0,
    footer,
    from_invoice: null,
    hosted_invoice_url: invoiceUrl(invoice, publicUrl),
    invoice_pdf: null,
    issuer: { type: 'self' },
    last_finalization_error: null,
    latest_revision: null,
    lines: renderLines(invoice),
    livemode: false,
    metadata,
    next_payment_attempt: null,
    number: invoice.number,
    on_behalf_of: null,
    parent: null,
    payment_settings: { default_mandate: null, payment_method_options: null, payment_method_types: null },
    period_end: created,
    period_start: created,
    post_payment_credit_notes_amount: 0,
    pre_payment_credit_notes_amount: 0,
    receipt_number: null,
    rendering: null,
    shipping_cost: null,
    shipping_details: null,
    starting_balance: 0,
    statement_descriptor: null,
    status: 'paid',
    status_transitions: {
      finalized_at: created,
      marked_uncollectible_at: null,
      paid_at: created,
      voided_at: null,
    },
    subtotal,
    subtotal_excluding_tax: subtotal,
    test_clock: null,
    total,
    total_discount_amounts: [],
    total_excluding_tax: subtotal,
    total_pretax_credit_amounts: [],
    total_taxes: renderTaxes(taxOf(session), subtotal, session),
    webhooks_delivered_at: null,
  };
}

function renderLines({ id, created, session, lineIds }: Invoice) {
  const data = session.lineItems.map((item, at) => {
    const amount = item.unitAmount * item.quantity;
    return {
      id: lineIds[at]!,
      object: 'line_item',
      amount,
      currency: session.currency,
      description: item.name,
      discount_amounts: [],
      discountable: true,
      discounts: [],
      invoice: id,
      livemode: false,
      metadata: {},
      parent: null,
      period: { end: created, start: created },
      pretax_credit_amounts: [],
      pricing: null,
      quantity: item.quantity,
      quantity_decimal: String(item.quantity),
      subscription: null,
      subtotal: amount,
      taxes: renderTaxes(itemTax(item, session), amount, session),
    };
  });
  return { object: 'list', data, has_more: false, url: `/v1/invoices/${id}/lines` };
}

function renderTaxes(amount: number, taxable: number, { automaticTax }: CheckoutSession) {
  if (!automaticTax) return [];
  return [
    {
      amount,
      tax_behavior: 'exclusive',
      tax_rate_details: null,
      taxability_reason: amount === 0 ? 'not_collecting' : 'standard_rated',
      taxable_amount: amount === 0 ? 0 : taxable,
      type: 'tax_rate_details',
    },
  ];
}
