/** Assigns numbers to new events, so that they can be read. */
import { isDistributed } from '../base/db/distribution.ts';
import type { Db, Pool } from '../base/db/pool.ts';
import { inTransaction } from '../base/db/transaction.ts';
import { codeOf } from '../base/lib/error-code.ts';
import { ALL, onServers, type Share } from '../base/tenants/shares.ts';
import type { TenantId } from '../base/tenants/tenant.ts';
import {
  appendNumberedEvents,
  FIND_BY_KEY,
  lockFreeStreams,
  numberWaitingEvents,
} from './append-events.sql.ts';
import type { EventDeps } from './event-deps.ts';

const AT_ONCE = 4;
const LOCK_MS_MAX = 100;
/** Tenants in one transaction, which keeps their streams locked. */
const TOGETHER_MAX = 100;
const LOCK_NOT_AVAILABLE = '55P03';

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
        if (codeOf(error) !== LOCK_NOT_AVAILABLE) onError(error, tenant);
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

/**
 * Number the events of those tenants whose streams are free, in one transaction. Returns these tenants: none where
 * tables are distributed, because each tenant is numbered on its own server.
 */
async function numberFreeTogether(db: Pool, tenants: readonly TenantId[]): Promise<TenantId[]> {
  if (isDistributed()) return [];
  return inTransaction(db, (tx) => lockFreeStreams(tx, tenants), {
    first: [FIND_BY_KEY],
    last: (locked) => (locked.length > 0 ? [numberWaitingEvents(locked)] : []),
  });
}

const TENANTS_MAX = 1_000;

/** Number events that their process left unnumbered: its wake-up was lost, or it died. */
export async function numberLeftEvents({ db, events }: EventDeps): Promise<void> {
  for (const tenant of await findTenantsWithUnnumbered(db, TENANTS_MAX)) events.wake(tenant);
}

/** Up to `limit` tenants that have unnumbered events. */
async function findTenantsWithUnnumbered(db: Db, limit: number): Promise<TenantId[]> {
  const text = (tenants: Pick<Share, 'and'>) =>
    `select distinct tenant_id as tenant from unnumbered_events where true ${tenants.and('tenant_id', 2)} limit $1`;
  const values = [limit];
  const rows = isDistributed()
    ? await onServers<{ tenant: TenantId }>(db, { text, values })
    : (
        await db.query<{ tenant: TenantId }>({
          name: 'find-tenants-with-unnumbered',
          text: text(ALL),
          values,
        })
      ).rows;
  return rows.map(({ tenant }) => tenant);
}

/** Those of `tenants` that have unnumbered events. */
async function findUnnumbered(db: Db, tenants: readonly TenantId[]): Promise<TenantId[]> {
  const { rows } = await db.query<{ tenant: TenantId }>({
    name: 'find-unnumbered',
    text: isDistributed()
      ? 'select distinct tenant_id as tenant from unnumbered_events where tenant_id = any($1)'
      : `select tenant from unnest($1::bigint[]) as t (tenant)
            where exists (select from unnumbered_events where tenant_id = tenant)`,
    values: [tenants],
  });
  return rows.map(({ tenant }) => tenant);
}
