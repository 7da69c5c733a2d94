/** Sign a tenant up: the tenant, its first key, and a checkout to pay. Source: specification 4.2. */
import { inTransaction } from '../../base/db/transaction.ts';
import { newTenantId, type TenantId } from '../../base/tenants/tenant.ts';
import { insertTenant } from '../../base/tenants/tenants.sql.ts';
import { appendEvents } from '../../events/append-events.sql.ts';
import type { EventDeps } from '../../events/event-deps.ts';
import { microsOfCents } from '../../money/amount.ts';
import { type CheckoutDeps, openCheckout } from '../../money/payments/open-checkout.ts';
import { newKey } from '../keys/api-key.ts';
import type { KeyDeps } from '../keys/authenticate.ts';
import { keyCreated } from '../keys/key-events.ts';
import { insertKey } from '../keys/keys.sql.ts';
import type { SignupLimit } from './signup-limit.ts';

export interface SignupDeps extends CheckoutDeps, EventDeps {
  readonly signupLimit: SignupLimit;
  readonly config: CheckoutDeps['config'] & KeyDeps['config'] & { readonly signupCheckoutCents: number };
}

export interface SignedUp {
  readonly tenant: TenantId;
  readonly keyId: string;
  /** Shown once. */
  readonly apiKey: string;
  /** Empty when no checkout could be opened; the tenant opens one later. */
  readonly checkoutUrl: string;
}

export async function signUp(
  deps: SignupDeps,
  { email, name, address }: { email: string; name: string; address: string },
): Promise<SignedUp> {
  await deps.signupLimit.count(address);

  const tenant = newTenantId();
  const key = newKey(deps.config.keyPrefix);
  await inTransaction(deps.db, async (tx) => {
    await insertTenant(tx, { id: tenant, name, email });
    const created = await insertKey(tx, tenant, { ...key, name: 'default', kind: 'backend' });
    await appendEvents(tx, tenant, [keyCreated(created)]);
  });
  deps.events.wake(tenant);
  return { tenant, keyId: key.id, apiKey: key.plaintext, checkoutUrl: await firstCheckout(deps, tenant) };
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
