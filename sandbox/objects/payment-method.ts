/** Payment methods: a test card or a bank debit, attached to a customer or not. */
import { findInstrument, fingerprint, type Instrument } from './cards.ts';

export interface PaymentMethod {
  readonly id: string;
  readonly created: number;
  readonly customer: string | null;
  /** Once detached, a payment method can never be used again. */
  readonly detached: boolean;
  /** The card number or bank debit, see `cards.ts`. */
  readonly instrument: string;
  readonly expMonth: number;
  readonly expYear: number;
  readonly email: string | null;
  readonly name: string | null;
  readonly allowRedisplay: 'always' | 'limited' | 'unspecified';
  readonly metadata: Record<string, string>;
}

export function instrumentOf(method: PaymentMethod): Instrument {
  const instrument = findInstrument(method.instrument);
  if (instrument === undefined) throw new Error(`payment method ${method.id} has no known instrument`);
  return instrument;
}

export function renderPaymentMethod(method: PaymentMethod) {
  const instrument = instrumentOf(method);
  return {
    id: method.id,
    object: 'payment_method',
    allow_redisplay: method.allowRedisplay,
    billing_details: renderBillingDetails(method),
    [instrument.type]: instrument.type === 'card' ? renderCard(method) : renderBankAccount(instrument),
    created: method.created,
    customer: method.customer,
    customer_account: null,
    livemode: false,
    metadata: method.metadata,
    type: instrument.type,
  };
}

export function renderBillingDetails(method: PaymentMethod) {
  return { address: null, email: method.email, name: method.name, phone: null, tax_id: null };
}

/** The fields of a charge's `payment_method_details`. */
export function renderMethodDetails(method: PaymentMethod) {
  const instrument = instrumentOf(method);
  if (instrument.type === 'us_bank_account') {
    return { type: instrument.type, us_bank_account: renderBankAccount(instrument) };
  }
  const { brand, checks, country, exp_month, exp_year, funding, last4 } = renderCard(method);
  return {
    type: instrument.type,
    card: {
      brand,
      checks,
      country,
      exp_month,
      exp_year,
      fingerprint: fingerprint(instrument),
      funding,
      last4,
      network: brand,
      three_d_secure: null,
      wallet: null,
    },
  };
}

function renderCard(method: PaymentMethod) {
  const instrument = instrumentOf(method);
  return {
    brand: instrument.brand,
    checks: { address_line1_check: null, address_postal_code_check: null, cvc_check: 'pass' },
    country: 'US',
    display_brand: instrument.brand,
    exp_month: method.expMonth,
    exp_year: method.expYear,
    fingerprint: fingerprint(instrument),
    funding: 'credit',
    generated_from: null,
    last4: instrument.last4,
    networks: { available: [instrument.brand], preferred: null },
    regulated_status: 'unregulated',
    three_d_secure_usage: { supported: true },
    wallet: null,
  };
}

function renderBankAccount(instrument: Instrument) {
  return {
    account_holder_type: 'individual',
    account_type: 'checking',
    bank_name: instrument.brand,
    financial_connections_account: null,
    fingerprint: fingerprint(instrument),
    last4: instrument.last4,
    networks: { preferred: 'ach', supported: ['ach'] },
    routing_number: '110000000',
    status_details: {},
  };
}
