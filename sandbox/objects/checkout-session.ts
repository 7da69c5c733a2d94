/** Checkout sessions in payment mode, paid on a page of the sandbox. */
import { renderAddress } from './customer.ts';
import { taxOn } from './tax.ts';

export interface CheckoutSession {
  readonly id: string;
  readonly created: number;
  readonly expiresAt: number;
  readonly status: 'open' | 'complete' | 'expired';
  readonly paymentStatus: 'paid' | 'unpaid';
  readonly lineItems: readonly LineItem[];
  readonly currency: string;
  readonly customer: string | null;
  readonly customerCreation: 'always' | 'if_required' | null;
  readonly customerEmail: string | null;
  /** What the buyer typed on the page. */
  readonly buyerEmail: string | null;
  readonly clientReferenceId: string | null;
  readonly metadata: Record<string, string>;
  readonly paymentIntent: string | null;
  readonly paymentIntentData: PaymentIntentData;
  readonly allowedTypes: readonly string[] | null;
  readonly submitType: string | null;
  readonly successUrl: string;
  readonly cancelUrl: string | null;
  readonly automaticTax: boolean;
  readonly taxIdCollection: TaxIdCollection | null;
  readonly customerUpdate: CustomerUpdate | null;
  /** The country of the buyer, in two letters: known from an earlier payment, or once it is given on the page. */
  readonly country: string | null;
  /** What the buyer typed on the page. */
  readonly taxId: string | null;
  readonly invoiceCreation: InvoiceCreation | null;
  readonly invoice: string | null;
}

export interface TaxIdCollection {
  readonly required: 'if_supported' | 'never';
}

/** What the buyer enters may change the customer. */
export interface CustomerUpdate {
  readonly address: 'auto' | 'never';
  readonly name: 'auto' | 'never';
}

export interface InvoiceCreation {
  readonly description: string | null;
  readonly footer: string | null;
  readonly metadata: Record<string, string>;
}

export interface LineItem {
  readonly id: string;
  readonly name: string;
  readonly description: string | null;
  /** Cents. */
  readonly unitAmount: number;
  readonly quantity: number;
}

export interface PaymentIntentData {
  readonly setupFutureUsage: 'off_session' | 'on_session' | null;
  readonly metadata: Record<string, string>;
  readonly description: string | null;
  readonly statementDescriptor: string | null;
  readonly statementDescriptorSuffix: string | null;
  readonly receiptEmail: string | null;
}

/** Cents, with tax. */
export function totalOf(session: CheckoutSession): number {
  return subtotalOf(session) + taxOf(session);
}

/** Cents, without tax. */
export function subtotalOf(session: CheckoutSession): number {
  return session.lineItems.reduce((sum, item) => sum + itemAmount(item), 0);
}

/** Cents, computed for each item. */
export function taxOf(session: CheckoutSession): number {
  return session.lineItems.reduce((sum, item) => sum + itemTax(item, session), 0);
}

function itemAmount({ unitAmount, quantity }: LineItem): number {
  return unitAmount * quantity;
}

export function itemTax(item: LineItem, { automaticTax, country }: CheckoutSession): number {
  return automaticTax ? taxOn(itemAmount(item), country) : 0;
}

export function pageUrl(session: CheckoutSession, publicUrl: string): string {
  return `${publicUrl}/c/pay/${session.id}`;
}

/** The return URLs may contain a placeholder for the session's identifier. */
export function fillTemplate(url: string, session: CheckoutSession): string {
  return url.replaceAll('{CHECKOUT_SESSION_ID}', session.id);
}

export function renderCheckoutSession(session: CheckoutSession, publicUrl: string) {
  return {
    id: session.id,
    object: 'checkout.session',
    adaptive_pricing: { enabled: false },
    after_expiration: null,
    allow_promotion_codes: null,
    allowed_payment_method_types: session.allowedTypes,
    amount_subtotal: subtotalOf(session),
    amount_total: totalOf(session),
    automatic_tax: renderAutomaticTax(session),
    billing_address_collection: null,
    cancel_url: session.cancelUrl,
    client_reference_id: session.clientReferenceId,
    client_secret: null,
    collected_information: null,
    consent: null,
    consent_collection: null,
    created: session.created,
    currency: session.currency,
    currency_conversion: null,
    custom_fields: [],
    custom_text: {
      after_submit: null,
      shipping_address: null,
      submit: null,
      terms_of_service_acceptance: null,
    },
    customer: session.customer,
    customer_account: null,
    customer_creation: session.customerCreation,
    customer_details: renderCustomerDetails(session),
    customer_email: session.customerEmail,
    discounts: [],
    expires_at: session.expiresAt,
    integration_identifier: null,
    invoice: session.invoice,
    invoice_creation: renderInvoiceCreation(session),
    livemode: false,
    locale: null,
    managed_payments: null,
    metadata: session.metadata,
    mode: 'payment',
    origin_context: null,
    payment_intent: session.paymentIntent,
    payment_link: null,
    payment_method_collection: 'if_required',
    payment_method_configuration_details: null,
    payment_method_options: {},
    payment_method_types: session.allowedTypes ?? ['card', 'us_bank_account'],
    payment_status: session.paymentStatus,
    permissions: null,
    recovered_from: null,
    saved_payment_method_options: null,
    setup_intent: null,
    shipping_address_collection: null,
    shipping_cost: null,
    shipping_options: [],
    status: session.status,
    submit_type: session.submitType,
    subscription: null,
    success_url: session.successUrl,
    tax_id_collection: renderTaxIdCollection(session),
    total_details: { amount_discount: 0, amount_shipping: 0, amount_tax: taxOf(session) },
    ui_mode: 'hosted_page',
    url: session.status === 'open' ? pageUrl(session, publicUrl) : null,
    wallet_options: null,
  };
}

export function renderAutomaticTax({ automaticTax, country }: CheckoutSession) {
  if (!automaticTax) return { enabled: false, liability: null, provider: null, status: null };
  const status = country === null ? 'requires_location_inputs' : 'complete';
  return { enabled: true, liability: { type: 'self' }, provider: 'stripe', status };
}

function renderTaxIdCollection({ taxIdCollection }: CheckoutSession) {
  return { enabled: Boolean(taxIdCollection), required: taxIdCollection?.required ?? 'never' };
}

function renderInvoiceCreation({ invoiceCreation }: CheckoutSession) {
  const { description = null, footer = null, metadata = {} } = invoiceCreation ?? {};
  return {
    enabled: Boolean(invoiceCreation),
    invoice_data: {
      account_tax_ids: null,
      custom_fields: null,
      description,
      footer,
      issuer: null,
      metadata,
      rendering_options: null,
    },
  };
}

export function renderLineItem(item: LineItem, session: CheckoutSession) {
  const amount = itemAmount(item);
  const tax = itemTax(item, session);
  return {
    id: item.id,
    object: 'item',
    adjustable_quantity: null,
    amount_discount: 0,
    amount_subtotal: amount,
    amount_tax: tax,
    amount_total: amount + tax,
    currency: session.currency,
    description: item.name,
    metadata: {},
    price: null,
    quantity: item.quantity,
  };
}

function renderCustomerDetails(session: CheckoutSession) {
  const email = session.buyerEmail ?? session.customerEmail;
  if (email === null) return null;
  return {
    address: renderAddress(session.country),
    business_name: null,
    email,
    individual_name: null,
    name: null,
    phone: null,
    tax_exempt: 'none',
    tax_ids: session.taxId ? [{ type: 'us_ein', value: session.taxId }] : [],
  };
}
