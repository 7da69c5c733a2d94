/**
 * The provider's receipt of a payment, and the invoice if one was made.
 *
 * Both links are fetched for each request and never stored: the provider lets them expire after 30 days, and
 * makes an invoice only after the payment has succeeded.
 */
import type Stripe from 'stripe';
import { Failure } from '../../base/failure.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import { isPaymentId, type Payment } from './payment.ts';
import { findPayment } from './payments.sql.ts';
import { askProvider, findAtProvider, type PaymentsDeps, requireProvider } from './provider.ts';

export interface Receipt {
  readonly url: string;
  /** `undefined`: the payment has no invoice. */
  readonly invoiceUrl: string | undefined;
}

/**
 * Fails with `not_found` for a payment of another tenant or without a receipt, with `payments_not_configured`,
 * or with `provider_error`.
 */
export async function getReceipt(deps: PaymentsDeps, tenant: TenantId, id: string): Promise<Receipt> {
  const payment = isPaymentId(id) ? await findPayment(deps.db, id) : undefined;
  if (payment?.tenant !== tenant) throw new Failure('not_found');
  const { stripe } = requireProvider(deps.provider);
  const [url, invoiceUrl] = await askProvider(() =>
    Promise.all([findReceiptUrl(stripe, payment), findInvoiceUrl(stripe, payment)]),
  );
  if (!url) throw new Failure('not_found');
  return { url, invoiceUrl };
}

async function findReceiptUrl(stripe: Stripe, { id }: Payment): Promise<string | undefined> {
  const intent = await findAtProvider(() =>
    stripe.paymentIntents.retrieve(id, { expand: ['latest_charge'] }),
  );
  const charge = intent?.latest_charge;
  return (typeof charge === 'object' && charge?.receipt_url) || undefined;
}

/** Only payment pages make invoices. */
async function findInvoiceUrl(stripe: Stripe, { id, kind }: Payment): Promise<string | undefined> {
  if (kind !== 'top_up') return undefined;
  const { data } = await stripe.checkout.sessions.list({
    payment_intent: id,
    limit: 1,
    expand: ['data.invoice'],
  });
  const invoice = data[0]?.invoice;
  return (typeof invoice === 'object' && invoice?.hosted_invoice_url) || undefined;
}
