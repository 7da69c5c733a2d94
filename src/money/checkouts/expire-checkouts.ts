/**
 * Close the payment pages of deleted tenants at the provider, so that they are not paid any more.
 *
 * A listener marks the open checkouts of a tenant that was deleted; a background job closes their pages. A
 * payment that was made before is parked (`settle-payment.ts`).
 */
import type Stripe from 'stripe';
import type { BaseDeps } from '../../base/deps.ts';
import type { Listener } from '../../events/listener.ts';
import { isProviderError, type Provider } from '../payments/provider.ts';
import type { StatusChange } from '../tenant-status/status-events.ts';
import { advanceCheckout } from './checkouts.sql.ts';
import {
  type CheckoutToExpire,
  claimCheckoutToExpire,
  markCheckouts,
  unmarkCheckout,
} from './expire-checkouts.sql.ts';

export const checkoutListener: Listener = {
  name: 'checkouts',
  types: ['tenant_status_changed'],
  handle: async (tx, tenant, events) => {
    const isDeleted = events.some(({ subject }) => (subject as StatusChange).to === 'deleted');
    if (isDeleted) await markCheckouts(tx, tenant);
  },
};

/** Close the pages that are due. One that cannot be closed now is due again in a minute. */
export async function expireCheckouts(deps: BaseDeps, provider: Provider): Promise<void> {
  for (;;) {
    const checkout = await claimCheckoutToExpire(deps.db);
    if (!checkout) return;
    try {
      await expireCheckout(deps, provider, checkout);
    } catch (error) {
      const { id } = checkout;
      deps.log.warn({ err: error, checkout: id }, 'the payment page of a deleted tenant could not be closed');
    }
  }
}

async function expireCheckout(
  deps: BaseDeps,
  provider: Provider,
  { id, sessionId }: CheckoutToExpire,
): Promise<void> {
  const status = await closeSession(provider.stripe, sessionId);
  // A page that was paid tells the rest by its events.
  if (status === 'complete') await unmarkCheckout(deps.db, id);
  else await advanceCheckout(deps.db, id, 'expired');
}

/** Returns the state in which the session ends. */
async function closeSession(stripe: Stripe, sessionId: string): Promise<'complete' | 'expired'> {
  try {
    await stripe.checkout.sessions.expire(sessionId);
    return 'expired';
  } catch (error) {
    if (!isProviderError(error, 'StripeInvalidRequestError')) throw error;
    if (error.code === 'resource_missing') return 'expired';
    const { status } = await stripe.checkout.sessions.retrieve(sessionId);
    if (status === 'complete') return 'complete';
    if (status === 'expired') return 'expired';
    throw error;
  }
}
