/** SQL that decides which payment pages are closed at the provider: those of deleted tenants. */
import type { Db, Tx } from '../../base/db/pool.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';

/** Close the tenant's open pages from now on. */
export async function markCheckouts(tx: Tx, tenant: TenantId): Promise<void> {
  await tx.query({
    name: 'mark-checkouts',
    text: `update checkouts set expire_at = now()
            where tenant_id = $1 and state = 'open' and expire_at is null`,
    values: [tenant],
  });
}

export interface CheckoutToExpire {
  readonly id: string;
  readonly sessionId: string;
}

/**
 * Claim a page to close. If it is not closed within a minute, another claim gets it again.
 *
 * A checkout without a session waits for it. If its process died before it was stored, no client got the
 * address of the page.
 */
export async function claimCheckoutToExpire(db: Db): Promise<CheckoutToExpire | undefined> {
  const { rows } = await db.query<CheckoutToExpire>({
    name: 'claim-checkout-to-expire',
    text: `update checkouts set expire_at = now() + interval '60 seconds'
            where id = (select id from checkouts
                         where state = 'open' and expire_at <= now() and session_id is not null
                         order by expire_at for update skip locked limit 1)
            returning id, session_id as "sessionId"`,
  });
  return rows[0];
}

/** The page need not be closed any more. */
export async function unmarkCheckout(db: Db, id: string): Promise<void> {
  await db.query({
    name: 'unmark-checkout',
    text: 'update checkouts set expire_at = null where id = $1',
    values: [id],
  });
}
