/** Give numbers to the events that wait for them, so that they can be read. */
import type { Pool } from '../db/pool.ts';
import { inTransaction } from '../db/transaction.ts';
import type { TenantId } from '../tenants/tenant.ts';
import { appendEvents, findUnnumbered } from './events.sql.ts';

export async function numberEvents(db: Pool, tenants: readonly TenantId[]): Promise<void> {
  for (const tenant of await findUnnumbered(db, tenants)) {
    await inTransaction(db, (tx) => appendEvents(tx, tenant, []));
  }
}
