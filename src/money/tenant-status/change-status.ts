/** What an operator may do to a tenant. */

import type { Pool } from '../../base/db/pool.ts';
import { inTransaction } from '../../base/db/transaction.ts';
import { Failure } from '../../base/failure.ts';
import { operatorMayMove, type TenantId, type TenantStatus } from '../../base/tenants/tenant.ts';
import { lockTenant, updateExempt, updateStatus } from '../../base/tenants/tenants.sql.ts';
import { wakeUnadmittedWatchdogs } from '../../control/watchdogs/watchdogs.sql.ts';

/** Move a tenant to another status. Fails with `not_found` or `status_change_refused`. */
export async function changeStatus(
  db: Pool,
  id: TenantId,
  status: TenantStatus,
  reason: string,
): Promise<void> {
  await inTransaction(db, async (tx) => {
    const tenant = await lockTenant(tx, id);
    if (!tenant) throw new Failure('not_found');
    if (!operatorMayMove(tenant.status, status)) throw new Failure('status_change_refused');
    await updateStatus(tx, tenant, status, reason);
    await wakeUnadmittedWatchdogs(tx, [id]);
  });
}

/** Exempt a tenant from charging, or end that. What it reported while exempt is never billed. */
export async function setExempt(db: Pool, id: TenantId, exempt: boolean): Promise<void> {
  await inTransaction(db, async (tx) => {
    const tenant = await lockTenant(tx, id);
    if (!tenant) throw new Failure('not_found');
    await updateExempt(tx, id, exempt);
    await wakeUnadmittedWatchdogs(tx, [id]);
  });
}
