/** Sign a tenant up: the tenant, its first key, and a checkout to pay. Source: specification 4.2. */
import type { Actor } from '../../base/audit/actor.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import type { EventDeps } from '../../events/event-deps.ts';
import { microsOfCents } from '../../money/amount.ts';
import { type CheckoutDeps, openCheckout } from '../../money/checkouts/open-checkout.ts';
import type { KeyDeps } from '../keys/authenticate.ts';
import { type CreatedTenant, createTenant } from './create-tenant.ts';
import type { SignupLimit } from './signup-limit.ts';

/** A signup has no key yet. */
export const SIGNUP: Actor = { kind: 'system', id: 'signup' };

export interface SignupDeps extends CheckoutDeps, EventDeps {
  readonly signupLimit: SignupLimit;
  readonly config: CheckoutDeps['config'] & KeyDeps['config'] & { readonly signupCheckoutCents: number };
}

export interface SignedUp extends CreatedTenant {
  /** Empty when no checkout could be opened; the tenant opens one later. */
  readonly checkoutUrl: string;
}

export async function signUp(
  deps: SignupDeps,
  { email, name, address }: { email: string; name: string; address: string },
): Promise<SignedUp> {
  await deps.signupLimit.count(address);

  const created = await createTenant(deps.db, SIGNUP, deps.config.keyPrefix, { name, email });
  deps.events.wake(created.tenant);
  return { ...created, checkoutUrl: await firstCheckout(deps, created.tenant) };
}

/** The tenant already exists, so if the provider fails, only the checkout link is missing. */
async function firstCheckout(deps: SignupDeps, tenant: TenantId): Promise<string> {
  if (!deps.provider) return '';
  try {
    const payer = { id: tenant, status: 'pending', limits: null } as const;
    return await openCheckout(deps, payer, microsOfCents(deps.config.signupCheckoutCents));
  } catch (error) {
    deps.log.warn({ err: error }, 'could not open a checkout at signup');
    return '';
  }
}
