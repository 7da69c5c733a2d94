/** SQL that finds events without a number, and numbers those of many tenants. */
import { isDistributed } from '../base/db/distribution.ts';
import type { Db, Pool } from '../base/db/pool.ts';
import { inTransaction } from '../base/db/transaction.ts';
import { onServers } from '../base/tenants/shares.ts';
import type { TenantId } from '../base/tenants/tenant.ts';
import { FIND_BY_KEY, lockFreeStreams, numberWaitingEvents } from './append-events.sql.ts';

/** Up to `limit` tenants that have unnumbered events. */
export async function findTenantsWithUnnumbered(db: Db, limit: number): Promise<TenantId[]> {
  const rows = await onServers<{ tenant: TenantId }>(db, {
    name: 'find-tenants-with-unnumbered',
    text: (tenants) =>
      `select distinct tenant_id as tenant from unnumbered_events where true ${tenants.and('tenant_id', 2)} limit $1`,
    values: [limit],
  });
  return rows.map(({ tenant }) => tenant);
}

/** Those of `tenants` that have unnumbered events. */
export async function findUnnumbered(db: Db, tenants: readonly TenantId[]): Promise<TenantId[]> {
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

/**
 * Number the events of those tenants whose streams are free, in one transaction. Returns these tenants: none where
 * tables are distributed, because each tenant is numbered on its own server.
 */
export async function numberFreeTogether(db: Pool, tenants: readonly TenantId[]): Promise<TenantId[]> {
  if (isDistributed()) return [];
  return inTransaction(db, (tx) => lockFreeStreams(tx, tenants), {
    first: [FIND_BY_KEY],
    last: (locked) => (locked.length > 0 ? [numberWaitingEvents(locked)] : []),
  });
}
