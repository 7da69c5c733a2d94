/** SQL of `checkouts`. */
import type { Db, Tx } from '../../base/db/pool.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import { findTenant } from '../../base/tenants/tenants.sql.ts';
import type { Checkout, CheckoutState } from './checkout.ts';

export async function insertCheckout(
  db: Db,
  checkout: Omit<Checkout, 'state' | 'createdAt' | 'member'> & { readonly member?: string | null },
): Promise<void> {
  await db.query({
    name: 'insert-checkout',
    text: 'insert into checkouts (id, tenant_id, amount, member_id) values ($1, $2, $3, $4)',
    values: [checkout.id, checkout.tenant, checkout.amount, checkout.member ?? null],
  });
}

/** A paid checkout that a restored database does not have. Changes nothing if it is there. */
export async function restoreCheckout(
  tx: Tx,
  checkout: Omit<Checkout, 'state' | 'createdAt' | 'member'> & { sessionId: string },
): Promise<void> {
  await tx.query({
    name: 'restore-checkout',
    text: `insert into checkouts (id, tenant_id, amount, session_id) values ($1, $2, $3, $4)
           on conflict (id) do nothing`,
    values: [checkout.id, checkout.tenant, checkout.amount, checkout.sessionId],
  });
}

export async function findCheckout(db: Db, id: string): Promise<Checkout | undefined> {
  const { rows } = await db.query<Checkout>({
    name: 'find-checkout',
    text: `select id, tenant_id as tenant, amount, state, created_at as "createdAt", member_id as member
             from checkouts where id = $1`,
    values: [id],
  });
  return rows[0];
}

/** Those whose payment the bank is still working on, the newest first. At most `limit`. */
export async function findProcessingCheckouts(
  db: Db,
  tenant: TenantId,
  limit: number,
): Promise<Pick<Checkout, 'id' | 'amount' | 'createdAt'>[]> {
  const { rows } = await db.query<Pick<Checkout, 'id' | 'amount' | 'createdAt'>>({
    name: 'find-processing-checkouts',
    text: `select id, amount, created_at as "createdAt" from checkouts
            where tenant_id = $1 and state = 'processing' order by created_at desc limit $2`,
    values: [tenant, limit],
  });
  return rows;
}

/**
 * Store the session of a checkout. If the tenant was deleted meanwhile, its page is due to be closed. In steps, because
 * tenants may be on another server than checkouts.
 */
export async function updateCheckoutSession(db: Db, id: string, sessionId: string): Promise<void> {
  const { rows } = await db.query<{ tenant: TenantId }>({
    name: 'update-checkout-session',
    text: 'update checkouts set session_id = $2 where id = $1 returning tenant_id as tenant',
    values: [id, sessionId],
  });
  const tenant = rows[0] && (await findTenant(db, rows[0].tenant));
  if (tenant?.status !== 'deleted') return;
  await db.query({
    name: 'expire-checkout',
    text: 'update checkouts set expire_at = now() where id = $1',
    values: [id],
  });
}

/**
 * Returns the checkout if its state changed; `amount` is in micros. A checkout only moves forward: a late
 * event never changes a paid checkout.
 */
export async function advanceCheckout(
  db: Db,
  id: string,
  state: CheckoutState,
): Promise<{ readonly tenant: TenantId; readonly amount: bigint } | undefined> {
  const { rows } = await db.query<{ tenant: TenantId; amount: bigint }>({
    name: 'advance-checkout',
    text: `update checkouts set state = $2
            where id = $1 and state not in ('paid', $2) and ($2 <> 'processing' or state = 'open')
            returning tenant_id as tenant, amount`,
    values: [id, state],
  });
  return rows[0];
}
