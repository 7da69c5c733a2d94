/**
 * Open a checkout: a page of the provider where the customer pays and saves a card.
 *
 * Source: specification 4.4. Credit is booked only when the payment succeeds.
 */
import type Stripe from 'stripe';
import { inTransaction } from '../../base/db/transaction.ts';
import { type Mutation, notRepeated, type OnceDeps } from '../../base/idempotency/once.ts';
import { onceOutside } from '../../base/idempotency/once-outside.ts';
import { newId } from '../../base/lib/ids.ts';
import type { LimitHolder } from '../../base/tenants/places.sql.ts';
import { renderTenantId, type TenantId } from '../../base/tenants/tenant.ts';
import { findTenant } from '../../base/tenants/tenants.sql.ts';
import { centsOfMicros } from '../amount.ts';
import { findPaymentSettings, forgetCustomer, keepCustomer } from '../payments/payments.sql.ts';
import {
  askProvider,
  isCustomerGone,
  outcomeOf,
  type PaymentsDeps,
  type Provider,
  requireProvider,
} from '../payments/provider.ts';
import type { CheckoutLimit } from './checkout-limit.ts';
import { type CheckoutOptions, renderOptions, taxBehavior } from './checkout-options.ts';
import { advanceCheckout, insertCheckout, updateCheckoutSession } from './checkouts.sql.ts';

export interface CheckoutDeps extends PaymentsDeps, OnceDeps {
  readonly checkoutLimit: CheckoutLimit;
  readonly config: PaymentsDeps['config'] & { readonly checkoutOptions: CheckoutOptions };
}

/**
 * Returns the URL of the page, for a mutation that is repeated that of the first one. `member`: who opens it, with an
 * address that was proved. Fails with `payments_not_configured`, `too_many_checkouts` or `provider_error`.
 */
export async function openCheckout(
  deps: CheckoutDeps,
  payer: LimitHolder,
  amount: bigint,
  mutation: Mutation = notRepeated(payer.id),
  member: string | null = null,
): Promise<string> {
  const provider = requireProvider(deps.provider);
  const { id: tenant } = payer;
  return onceOutside(deps, mutation, {
    admit: () => deps.checkoutLimit.count(payer),
    begin: async (tx) => {
      const id = newId('co');
      // Insert our row first: a payment for an unknown checkout is not ours.
      await insertCheckout(tx, { id, tenant, amount, member });
      return id;
    },
    ask: async (id) => {
      try {
        const session = await askProvider(() => createSession(deps, provider, { id, tenant, amount }));
        await updateCheckoutSession(deps.db, id, session.id);
        return session.url ?? '';
      } catch (error) {
        // With a key, a repetition may still open it.
        const isOver = mutation.key === undefined || outcomeOf(error) === 'refused';
        if (isOver) await advanceCheckout(deps.db, id, 'failed');
        throw error;
      }
    },
    outcomeOf,
  });
}

async function customerOf(
  deps: PaymentsDeps,
  provider: Provider,
  tenantId: TenantId,
  checkoutId: string,
): Promise<string> {
  const settings = await findPaymentSettings(deps.db, tenantId);
  if (settings.customerId) return settings.customerId;

  const tenant = await findTenant(deps.db, tenantId);
  const customer = await provider.stripe.customers.create(
    { name: tenant!.name, email: tenant!.email, metadata: { tenant: renderTenantId(tenantId) } },
    { idempotencyKey: `customer-${checkoutId}` },
  );
  return keepCustomer(deps.db, tenantId, customer.id);
}

/** If the customer was deleted at the provider, replace it with a new one. */
async function createSession(
  deps: CheckoutDeps,
  provider: Provider,
  checkout: { id: string; tenant: TenantId; amount: bigint },
): Promise<Stripe.Checkout.Session> {
  const customer = await customerOf(deps, provider, checkout.tenant, checkout.id);
  try {
    return await createSessionOf(deps, provider, { ...checkout, customer });
  } catch (error) {
    if (!isCustomerGone(error)) throw error;
    await inTransaction(deps.db, (tx) => forgetCustomer(tx, customer));
    const another = await customerOf(deps, provider, checkout.tenant, checkout.id);
    return createSessionOf(deps, provider, { ...checkout, customer: another });
  }
}

function createSessionOf(
  { config }: CheckoutDeps,
  { stripe }: Provider,
  { id, tenant, amount, customer }: { id: string; tenant: TenantId; amount: bigint; customer: string },
): Promise<Stripe.Checkout.Session> {
  // A session's metadata does not reach its payment intent, which is what refunds and disputes name.
  const metadata = { tenant: renderTenantId(tenant), checkout: id };
  const returnUrl = `${config.publicUrl}/checkout/${id}`;
  return stripe.checkout.sessions.create(
    {
      mode: 'payment',
      customer,
      client_reference_id: metadata.tenant,
      line_items: [
        {
          quantity: 1,
          price_data: {
            currency: 'usd',
            unit_amount: centsOfMicros(amount),
            ...taxBehavior(config.checkoutOptions),
            product_data: { name: 'Prepaid credit' },
          },
        },
      ],
      payment_intent_data: { setup_future_usage: 'off_session', metadata },
      metadata,
      success_url: returnUrl,
      cancel_url: `${returnUrl}?canceled=1`,
      ...renderOptions(config.checkoutOptions, metadata),
    },
    // The provider stores refusals under the key too, so a new customer needs a new key.
    { idempotencyKey: `${id}-${customer}` },
  );
}
