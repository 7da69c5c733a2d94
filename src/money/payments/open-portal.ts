/** Open the provider's customer portal: receipts and saved cards. Source: specification 4.5. */

import { invalidRequest } from '../../base/failure.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import { findPaymentSettings } from './payments.sql.ts';
import { askProvider, type PaymentsDeps, requireProvider } from './provider.ts';

export async function openPortal(deps: PaymentsDeps, tenant: TenantId): Promise<string> {
  const settings = await findPaymentSettings(deps.db, tenant);
  if (!settings.firstPaidAt) throw invalidRequest('this tenant has never paid: pay a checkout first');
  if (!settings.customerId) {
    throw invalidRequest('the payment provider no longer knows this customer: pay a checkout first');
  }
  const { stripe } = requireProvider(deps.provider);
  const customer = settings.customerId;
  const session = await askProvider(() =>
    stripe.billingPortal.sessions.create({ customer, return_url: `${deps.config.publicUrl}/portal/closed` }),
  );
  return session.url;
}
