/** Open the provider's customer portal: receipts and saved cards. Source: specification 4.5. */

import { invalidRequest } from '../../base/failure.ts';
import type { Mutation, OnceDeps } from '../../base/idempotency/once.ts';
import { onceOutside } from '../../base/idempotency/once-outside.ts';
import { newId } from '../../base/lib/ids.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import { findPaymentSettings } from '../payments/payments.sql.ts';
import { askProvider, outcomeOf, type PaymentsDeps, requireProvider } from '../payments/provider.ts';

/** Returns the URL of the portal, for a mutation that is repeated the first one. */
export async function openPortal(deps: PaymentsDeps & OnceDeps, mutation: Mutation): Promise<string> {
  return onceOutside(deps, mutation, {
    begin: async () => newId('portal'),
    ask: (id) => createSession(deps, mutation.tenant, id),
    outcomeOf,
  });
}

async function createSession(deps: PaymentsDeps, tenant: TenantId, id: string): Promise<string> {
  const settings = await findPaymentSettings(deps.db, tenant);
  if (!settings.firstPaidAt) throw invalidRequest('this tenant has never paid: pay a checkout first');
  if (!settings.customerId) {
    throw invalidRequest('the payment provider no longer knows this customer: pay a checkout first');
  }
  const { stripe } = requireProvider(deps.provider);
  const customer = settings.customerId;
  const session = await askProvider(() =>
    stripe.billingPortal.sessions.create(
      { customer, return_url: `${deps.config.publicUrl}/portal/closed` },
      { idempotencyKey: `${id}-${customer}` },
    ),
  );
  return session.url;
}
