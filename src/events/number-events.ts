/** Give numbers to the events that wait for them, so that they can be read. */
import type { Pool } from '../base/db/pool.ts';
import { inTransaction } from '../base/db/transaction.ts';
import { codeOf } from '../base/lib/error-code.ts';
import type { TenantId } from '../base/tenants/tenant.ts';
import { appendEvents, findUnnumbered, limitLockWait } from './events.sql.ts';

const AT_ONCE = 4;
const LOCK_MS_MAX = 100;
const LOCK_NOT_AVAILABLE = '55P03';

export async function numberEvents(db: Pool, tenants: readonly TenantId[]): Promise<void> {
  for (const tenant of await findUnnumbered(db, tenants)) {
    await inTransaction(db, (tx) => appendEvents(tx, tenant, []));
  }
}

/**
 * The same for tenants that have nothing to do with each other, so that none of them holds up the others
 * for long. Events of a stream that somebody keeps locked are left for the next time.
 */
export async function numberEventsSoon(
  db: Pool,
  tenants: readonly TenantId[],
  onError: (error: unknown, tenant: TenantId) => void,
): Promise<void> {
  const waiting = (await findUnnumbered(db, tenants)).values();
  const lane = async () => {
    for (const tenant of waiting) {
      const numbering = inTransaction(db, async (tx) => {
        await limitLockWait(tx, LOCK_MS_MAX);
        await appendEvents(tx, tenant, []);
      });
      await numbering.catch((error) => {
        if (codeOf(error) !== LOCK_NOT_AVAILABLE) onError(error, tenant);
      });
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, lane));
}
