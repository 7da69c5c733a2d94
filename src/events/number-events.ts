/** Assigns numbers to new events, so that they can be read. */
import type { Pool } from '../base/db/pool.ts';
import { inTransaction, isLockTimeout } from '../base/db/transaction.ts';
import type { TenantId } from '../base/tenants/tenant.ts';
import { appendNumberedEvents } from './append-events.sql.ts';
import type { EventDeps } from './event-deps.ts';
import { findTenantsWithUnnumbered, findUnnumbered, numberFreeTogether } from './unnumbered-events.sql.ts';

const AT_ONCE = 4;
const LOCK_MS_MAX = 100;
/** Tenants in one transaction, which keeps their streams locked. */
const TOGETHER_MAX = 100;

/** Number every event committed so far. Call this before reading. */
export async function numberEvents(db: Pool, tenants: readonly TenantId[]): Promise<void> {
  for (const tenant of await findUnnumbered(db, tenants)) {
    await inTransaction(db, (tx) => appendNumberedEvents(tx, tenant, []));
  }
}

/**
 * Number the events of unrelated tenants, without one tenant delaying the others for long. A stream that
 * another transaction keeps locked is skipped until the next call.
 */
export async function numberEventsSoon(
  db: Pool,
  tenants: readonly TenantId[],
  onError: (error: unknown, tenant: TenantId) => void,
): Promise<void> {
  const found = await findUnnumbered(db, tenants);
  const numbered = new Set<TenantId>();
  for (let at = 0; at < found.length; at += TOGETHER_MAX) {
    const together = numberFreeTogether(db, found.slice(at, at + TOGETHER_MAX));
    // After an error, each tenant is tried alone: one of them may be at fault.
    for (const tenant of await together.catch(() => [])) numbered.add(tenant);
  }
  const left = found.filter((tenant) => !numbered.has(tenant)).values();
  const lane = async () => {
    for (const tenant of left) {
      await numberAlone(db, tenant).catch((error) => {
        if (!isLockTimeout(error)) onError(error, tenant);
      });
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, lane));
}

/** Waits a moment for the stream. */
async function numberAlone(db: Pool, tenant: TenantId): Promise<void> {
  const begin = `begin; set local lock_timeout = ${LOCK_MS_MAX}`;
  await inTransaction(db, (tx) => appendNumberedEvents(tx, tenant, []), { begin });
}

const TENANTS_MAX = 1_000;

/** Number events that their process left unnumbered: its wake-up was lost, or it died. */
export async function numberLeftEvents({ db, events }: EventDeps): Promise<void> {
  for (const tenant of await findTenantsWithUnnumbered(db, TENANTS_MAX)) events.wake(tenant);
}
