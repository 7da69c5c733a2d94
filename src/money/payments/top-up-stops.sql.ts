/** SQL of what stops automatic top-ups in `payment_settings`: freezes, reversed payments, parked payments. */
import type { Tx } from '../../base/db/pool.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';

export async function freeze(tx: Tx, tenant: TenantId, reason: string): Promise<void> {
  await tx.query({
    name: 'freeze',
    text: `update payment_settings set frozen_by = array_append(array_remove(frozen_by, $2), $2)
            where tenant_id = $1`,
    values: [tenant, reason],
  });
}

/** Remove one reason, or all of them. */
export async function unfreeze(tx: Tx, tenant: TenantId, reason: string | 'all'): Promise<void> {
  await tx.query({
    name: 'unfreeze',
    text: `update payment_settings
              set frozen_by = case when $2 = 'all' then '{}' else array_remove(frozen_by, $2) end
               where tenant_id = $1`,
    values: [tenant, reason],
  });
}

/** The payment was refunded or disputed: automatic top-up pauses until the tenant turns it on again. */
export async function pauseForReversal(tx: Tx, tenant: TenantId, paymentId: string): Promise<void> {
  await tx.query({
    name: 'pause-for-reversal',
    text: `update payment_settings
              set reversed_payments = array_append(array_remove(reversed_payments, $2), $2)
            where tenant_id = $1`,
    values: [tenant, paymentId],
  });
}

/** No automatic top-up runs while this payment is parked. The account must be locked. */
export async function holdTopUps(tx: Tx, tenant: TenantId, paymentId: string): Promise<void> {
  await tx.query({
    name: 'hold-top-ups',
    text: `update payment_settings set parked_payments = array_append(array_remove(parked_payments, $2), $2)
            where tenant_id = $1`,
    values: [tenant, paymentId],
  });
}

/** All that was taken back of the payment was given back. */
export async function endReversalPause(tx: Tx, tenant: TenantId, paymentId: string): Promise<void> {
  await tx.query({
    name: 'end-reversal-pause',
    text: `update payment_settings set reversed_payments = array_remove(reversed_payments, $2)
            where tenant_id = $1`,
    values: [tenant, paymentId],
  });
}

/** The payment is no longer parked; `all`: an operator lets automatic top-ups run all the same. */
export async function endHold(tx: Tx, tenant: TenantId, paymentId: string | 'all'): Promise<void> {
  await tx.query({
    name: 'end-hold',
    text: `update payment_settings
              set parked_payments = case when $2 = 'all' then '{}' else array_remove(parked_payments, $2) end
            where tenant_id = $1`,
    values: [tenant, paymentId],
  });
}
