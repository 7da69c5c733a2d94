/** What the operator may add to payment pages: tax, tax ids and invoices. All of it is the provider's work. */
import type Stripe from 'stripe';

export interface CheckoutOptions {
  /** Tax is computed from the customer's address, and paid on top of the credit. */
  readonly tax: boolean;
  /** Businesses may enter their name and tax id. */
  readonly taxIds: boolean;
  /** Each paid page gets an invoice. */
  readonly invoices: boolean;
}

/** How tax relates to the price. A page without tax does not mention it. */
export function taxBehavior({ tax }: CheckoutOptions) {
  return tax ? ({ tax_behavior: 'exclusive' } as const) : {};
}

/** Parameters of a page whose customer exists. `metadata` is for the invoice. */
export function renderOptions(
  { tax, taxIds, invoices }: CheckoutOptions,
  metadata: Stripe.MetadataParam,
): Pick<
  Stripe.Checkout.SessionCreateParams,
  'automatic_tax' | 'tax_id_collection' | 'customer_update' | 'invoice_creation'
> {
  return {
    ...(tax && { automatic_tax: { enabled: true } }),
    ...(taxIds && { tax_id_collection: { enabled: true } }),
    // The provider refuses either one for an existing customer whose address and name the page may not change.
    ...((tax || taxIds) && { customer_update: { address: 'auto', name: 'auto' } }),
    ...(invoices && { invoice_creation: { enabled: true, invoice_data: { metadata } } }),
  };
}
