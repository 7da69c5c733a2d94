/** `/v1/checkout/sessions` */
import { expireCheckout } from '../actions/checkout.ts';
import { getLiveCustomer, getRow } from '../actions/find.ts';
import { invalidRequest } from '../http/errors.ts';
import {
  boolean,
  currency,
  ignored,
  integer,
  list as listOf,
  metadata,
  object,
  oneOf,
  optional,
  type Params,
  readParams,
  required,
  text,
  url,
} from '../http/params.ts';
import {
  type CheckoutSession,
  type LineItem,
  type PaymentIntentData,
  renderCheckoutSession,
  renderLineItem,
} from '../objects/checkout-session.ts';
import type { Customer } from '../objects/customer.ts';
import { now, type Provider } from '../provider.ts';
import type { ApiRoute, Call } from './call.ts';
import { CREATED, listPage } from './list.ts';
import { mergeMetadata } from './metadata.ts';
import { checkAmount } from './payment-intents.ts';

export const checkoutSessionRoutes: readonly ApiRoute[] = [
  { method: 'POST', path: '/v1/checkout/sessions', handle: create },
  { method: 'GET', path: '/v1/checkout/sessions', handle: list },
  { method: 'GET', path: '/v1/checkout/sessions/:id', handle: retrieve },
  { method: 'GET', path: '/v1/checkout/sessions/:id/line_items', handle: lineItems },
  { method: 'POST', path: '/v1/checkout/sessions/:id/expire', handle: expire },
];

const SECONDS_MIN = 30 * 60;
const SECONDS_MAX = 24 * 3600;

const PRICE_DATA = {
  currency: required(currency()),
  unit_amount: required(integer({ min: 0 })),
  product_data: required(
    object({
      name: required(text({ max: 1000 })),
      description: optional(text({ max: 1000 })),
      images: optional(ignored()),
      metadata: optional(ignored()),
      tax_code: optional(ignored()),
    }),
  ),
  tax_behavior: optional(oneOf('exclusive', 'inclusive', 'unspecified')),
};

const LINE_ITEM = {
  price_data: required(object(PRICE_DATA)),
  quantity: optional(integer({ min: 1, max: 999_999 })),
};

const PAYMENT_INTENT_DATA = {
  setup_future_usage: optional(oneOf('off_session', 'on_session')),
  metadata: optional(metadata()),
  description: optional(text({ max: 1000 })),
  statement_descriptor: optional(text({ max: 22 })),
  statement_descriptor_suffix: optional(text({ max: 22 })),
  receipt_email: optional(text()),
  capture_method: optional(oneOf('automatic', 'automatic_async')),
};

const SESSION = {
  mode: required(oneOf('payment')),
  ui_mode: optional(oneOf('hosted_page')),
  success_url: required(url()),
  cancel_url: optional(url()),
  line_items: required(listOf(object(LINE_ITEM), { max: 100 })),
  currency: optional(currency()),
  customer: optional(text()),
  customer_creation: optional(oneOf('always', 'if_required')),
  customer_email: optional(text({ max: 512 })),
  client_reference_id: optional(text({ max: 200 })),
  metadata: optional(metadata()),
  payment_intent_data: optional(object(PAYMENT_INTENT_DATA)),
  allowed_payment_method_types: optional(listOf(oneOf('card', 'us_bank_account'))),
  expires_at: optional(integer()),
  submit_type: optional(oneOf('auto', 'book', 'donate', 'pay')),
  // The following parameters change nothing that the sandbox shows.
  billing_address_collection: optional(ignored()),
  locale: optional(ignored()),
  payment_method_options: optional(ignored()),
  saved_payment_method_options: optional(ignored()),
};

const UPDATES = optional(oneOf('auto', 'never'));

/** The switch of tax and of invoices. `true` needs an account that is set up for it, which the sandbox always is. */
const ACCOUNTING = {
  automatic_tax: optional(object({ enabled: required(boolean()) })),
  tax_id_collection: optional(
    object({ enabled: required(boolean()), required: optional(oneOf('if_supported', 'never')) }),
  ),
  customer_update: optional(object({ address: UPDATES, name: UPDATES, shipping: UPDATES })),
  invoice_creation: optional(
    object({
      enabled: required(boolean()),
      invoice_data: optional(
        object({
          description: optional(text({ max: 1500 })),
          footer: optional(text({ max: 5000 })),
          metadata: optional(metadata()),
        }),
      ),
    }),
  ),
};

type SessionParams = Params<typeof SESSION> & Params<typeof ACCOUNTING>;

function create({ provider, form }: Call) {
  const params: SessionParams = readParams(form, { ...SESSION, ...ACCOUNTING });
  checkBuyer(params);
  const code = checkCurrency(params);
  const expiresAt = readExpiry(provider, params.expires_at);
  checkAmount(itemsTotal(params), code, 'line_items');
  const customer =
    params.customer === undefined ? null : getLiveCustomer(provider, params.customer, 'customer');
  checkTax(params, customer);

  const session: CheckoutSession = {
    id: provider.ids.next('cs_test_'),
    created: now(provider),
    expiresAt,
    status: 'open',
    paymentStatus: 'unpaid',
    lineItems: params.line_items.map((item) => parseLineItem(provider, item)),
    currency: code,
    customer: customer?.id ?? null,
    customerCreation: customer === null ? (params.customer_creation ?? 'if_required') : null,
    customerEmail: params.customer_email ?? null,
    buyerEmail: null,
    clientReferenceId: params.client_reference_id ?? null,
    metadata: mergeMetadata({}, params.metadata),
    paymentIntent: null,
    paymentIntentData: parseIntentData(params.payment_intent_data),
    allowedTypes: params.allowed_payment_method_types ?? null,
    submitType: params.submit_type ?? null,
    successUrl: params.success_url,
    cancelUrl: params.cancel_url ?? null,
    country: params.automatic_tax?.enabled ? (customer?.country ?? null) : null,
    taxId: null,
    invoice: null,
    ...parseAccounting(params),
  };
  return renderCheckoutSession(provider.state.put('checkoutSessions', session), provider.publicUrl);
}

function retrieve({ provider, id }: Call) {
  return renderCheckoutSession(getRow(provider, 'checkoutSessions', id), provider.publicUrl);
}

function expire({ provider, id, form }: Call) {
  readParams(form, {});
  const session = expireCheckout(provider, getRow(provider, 'checkoutSessions', id));
  return renderCheckoutSession(session, provider.publicUrl);
}

function list({ provider, form }: Call) {
  return listPage(form, {
    url: '/v1/checkout/sessions',
    rows: provider.state.all('checkoutSessions'),
    filters: {
      ...CREATED,
      customer: optional(text()),
      payment_intent: optional(text()),
      status: optional(oneOf('open', 'complete', 'expired')),
    },
    keep: (session, { customer, payment_intent, status }) =>
      (customer === undefined || session.customer === customer) &&
      (payment_intent === undefined || session.paymentIntent === payment_intent) &&
      (status === undefined || session.status === status),
    render: (session) => renderCheckoutSession(session, provider.publicUrl),
  });
}

function lineItems({ provider, id, form }: Call) {
  const session = getRow(provider, 'checkoutSessions', id);
  return listPage(form, {
    url: `/v1/checkout/sessions/${id}/line_items`,
    // Line items are listed in their own order, so this undoes the reversal of the page.
    rows: session.lineItems.map((item) => ({ ...item, created: session.created })).reverse(),
    filters: {},
    keep: () => true,
    render: (item) => renderLineItem(item, session),
  });
}

function checkBuyer(params: SessionParams): void {
  const chosen = (['customer', 'customer_creation'] as const).filter((name) => params[name] !== undefined);
  if (chosen.length > 1) {
    throw invalidRequest('You may only specify one of these parameters: customer, customer_creation.');
  }
  if (params.customer !== undefined && params.customer_email !== undefined) {
    throw invalidRequest('You may only specify one of these parameters: customer, customer_email.');
  }
}

/** Source: Stripe's own messages. */
function checkTax(params: SessionParams, customer: Customer | null): void {
  const { automatic_tax, tax_id_collection, customer_update, line_items } = params;
  if (customer_update !== undefined && customer === null) {
    throw invalidRequest('`customer_update` can only be used with `customer`.', { param: 'customer_update' });
  }
  if (tax_id_collection?.enabled && customer !== null && customer_update?.name !== 'auto') {
    throw invalidRequest(
      'Tax ID collection requires updating business name on the customer. To enable tax ID collection for an existing customer, please set `customer_update[name]` to `auto`.',
    );
  }
  if (!automatic_tax?.enabled) return;
  if (customer !== null && !customer.country && customer_update?.address !== 'auto') {
    throw invalidRequest(
      "Automatic tax calculation in Checkout requires a valid address on the Customer. Add a valid address to the Customer or set `customer_update[address]` to 'auto'.",
      { code: 'customer_tax_location_invalid' },
    );
  }
  if (line_items.some((item) => item.price_data.tax_behavior !== 'exclusive')) {
    throw invalidRequest('The sandbox computes tax for prices with `tax_behavior` `exclusive` only.', {
      param: 'line_items',
    });
  }
}

function parseAccounting(
  params: SessionParams,
): Pick<CheckoutSession, 'automaticTax' | 'taxIdCollection' | 'customerUpdate' | 'invoiceCreation'> {
  const { automatic_tax, tax_id_collection: ids, customer_update: update, invoice_creation } = params;
  const { description, footer, metadata: own } = invoice_creation?.invoice_data ?? {};
  return {
    automaticTax: automatic_tax?.enabled ?? false,
    taxIdCollection: ids?.enabled ? { required: ids.required ?? 'never' } : null,
    customerUpdate: update ? { address: update.address ?? 'never', name: update.name ?? 'never' } : null,
    invoiceCreation: invoice_creation?.enabled
      ? { description: description ?? null, footer: footer ?? null, metadata: mergeMetadata({}, own) }
      : null,
  };
}

function checkCurrency({ currency: code, line_items }: SessionParams): string {
  const [first] = line_items;
  if (first === undefined) throw invalidRequest('Send at least one line item.', { param: 'line_items' });
  const expected = code ?? first.price_data.currency;
  if (line_items.some((item) => item.price_data.currency !== expected)) {
    throw invalidRequest('All line items must have the same currency.', { param: 'line_items' });
  }
  return expected;
}

function itemsTotal({ line_items }: SessionParams): number {
  return line_items.reduce((sum, { price_data, quantity = 1 }) => sum + price_data.unit_amount * quantity, 0);
}

function readExpiry(provider: Provider, wanted: number | undefined): number {
  const created = now(provider);
  if (wanted === undefined) return created + SECONDS_MAX;
  if (wanted < created + SECONDS_MIN) {
    throw invalidRequest(
      'The `expires_at` timestamp must be at least 30 minutes from Checkout Session creation.',
      {
        param: 'expires_at',
      },
    );
  }
  if (wanted > created + SECONDS_MAX) {
    throw invalidRequest(
      'The `expires_at` timestamp must be less than 24 hours from Checkout Session creation.',
      {
        param: 'expires_at',
      },
    );
  }
  return wanted;
}

function parseLineItem(provider: Provider, item: Params<typeof LINE_ITEM>): LineItem {
  const { product_data, unit_amount } = item.price_data;
  return {
    id: provider.ids.next('li_'),
    name: product_data.name,
    description: product_data.description ?? null,
    unitAmount: unit_amount,
    quantity: item.quantity ?? 1,
  };
}

function parseIntentData(data: Params<typeof PAYMENT_INTENT_DATA> | undefined): PaymentIntentData {
  return {
    setupFutureUsage: data?.setup_future_usage ?? null,
    metadata: mergeMetadata({}, data?.metadata),
    description: data?.description ?? null,
    statementDescriptor: data?.statement_descriptor ?? null,
    statementDescriptorSuffix: data?.statement_descriptor_suffix ?? null,
    receiptEmail: data?.receipt_email ?? null,
  };
}
