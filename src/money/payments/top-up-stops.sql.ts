/** SQL of what stops automatic top-ups in `payment_settings`: freezes, reversed payments, parked payments. */
import type { Tx } from '../../base/db/pool.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';

export async function freeze(tx: Tx, tenant: TenantId, reason: string): Promise<void> {
  await addStop(tx, tenant, 'frozen_by', reason);
}

/** Remove one reason, or all of them. */
export async function unfreeze(tx: Tx, tenant: TenantId, reason: string | 'all'): Promise<void> {
  await removeStop(tx, tenant, 'frozen_by', reason);
}

/** The payment was refunded or disputed: automatic top-up pauses until the tenant turns it on again. */
export async function pauseForReversal(tx: Tx, tenant: TenantId, paymentId: string): Promise<void> {
  await addStop(tx, tenant, 'reversed_payments', paymentId);
}

/** All that was taken back of the payment was given back. */
export async function endReversalPause(tx: Tx, tenant: TenantId, paymentId: string): Promise<void> {
  await removeStop(tx, tenant, 'reversed_payments', paymentId);
}

/** No automatic top-up runs while this payment is parked. The account must be locked. */
export async function holdTopUps(tx: Tx, tenant: TenantId, paymentId: string): Promise<void> {
  await addStop(tx, tenant, 'parked_payments', paymentId);
}

/** The payment is no longer parked; `all`: an operator lets automatic top-ups run all the same. */
export async function endHold(tx: Tx, tenant: TenantId, paymentId: string | 'all'): Promise<void> {
  await removeStop(tx, tenant, 'parked_payments', paymentId);
}

/** Columns that list what stops automatic top-ups. */
type Stops = 'frozen_by' | 'reversed_payments' | 'parked_payments';

/** A stop that is added again becomes the newest of the list. */
async function addStop(tx: Tx, tenant: TenantId, stops: Stops, stop: string): Promise<void> {
  await tx.query({
    name: `add-stop-${stops}`,
    text: `update payment_settings set ${stops} = array_append(array_remove(${stops}, $2), $2)
            where tenant_id = $1`,
    values: [tenant, stop],
  });
}

async function removeStop(tx: Tx, tenant: TenantId, stops: Stops, stop: string | 'all'): Promise<void> {
  await tx.query({
    name: `remove-stop-${stops}`,
    text: `update payment_settings
              set ${stops} = case when $2 = 'all' then '{}' else array_remove(${stops}, $2) end
            where tenant_id = $1`,
    values: [tenant, stop],
  });
}
