/** Customers. */
export interface Customer {
  readonly id: string;
  readonly created: number;
  readonly deleted: boolean;
  readonly email: string | null;
  readonly name: string | null;
  readonly phone: string | null;
  readonly description: string | null;
  readonly metadata: Record<string, string>;
  readonly defaultPaymentMethod: string | null;
  /** Two letters of the country: all of an address that matters here. */
  readonly country: string | null;
}

export function renderCustomer(customer: Customer) {
  if (customer.deleted) return { id: customer.id, object: 'customer', deleted: true };
  return renderLiveCustomer(customer);
}

/** The full shape, which `customer.deleted` events carry too. */
export function renderLiveCustomer(customer: Customer) {
  return {
    id: customer.id,
    object: 'customer',
    address: renderAddress(customer.country),
    balance: 0,
    created: customer.created,
    currency: null,
    customer_account: null,
    default_source: null,
    delinquent: false,
    description: customer.description,
    discount: null,
    email: customer.email,
    invoice_prefix: customer.id.slice(-8).toUpperCase(),
    invoice_settings: {
      custom_fields: null,
      default_payment_method: customer.defaultPaymentMethod,
      footer: null,
      rendering_options: null,
    },
    livemode: false,
    metadata: customer.metadata,
    name: customer.name,
    phone: customer.phone,
    preferred_locales: [],
    shipping: null,
    tax_exempt: 'none',
    test_clock: null,
  };
}

export function renderAddress(country: string | null) {
  if (!country) return null;
  return { city: null, country, line1: null, line2: null, postal_code: null, state: null };
}
