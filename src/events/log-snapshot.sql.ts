/** Read the database as of one place in a tenant's log. */
import { isDistributed } from '../base/db/distribution.ts';
import type { Pool, Tx } from '../base/db/pool.ts';
import { inTransaction, repeatOnConflict, transactOnce } from '../base/db/transaction.ts';
import type { TenantId } from '../base/tenants/tenant.ts';
import { appendNumberedEvents } from './append-events.sql.ts';
import type { Place } from './event.ts';
import { findNewestPlace } from './events.sql.ts';

/** The log of a busy tenant moves every few milliseconds. */
const ATTEMPTS = 50;

/**
 * Run `read` on one snapshot of the database, which holds what the events up to `place` tell and nothing that
 * a later event tells.
 *
 * Events that were committed without a number are visible in the snapshot, so they are numbered first, in a
 * transaction with that same snapshot. PostgreSQL refuses it where the log has moved since, and then all
 * begins anew. The reading has a transaction of its own, because the numbering must not stay open for long.
 */
export async function inLogSnapshot<T>(
  db: Pool,
  tenant: TenantId,
  read: (tx: Tx, place: Place) => Promise<T>,
): Promise<T> {
  const reader = await db.connect();
  let broken: Error | undefined;
  try {
    const place = await repeatOnConflict(() => openSnapshot(db, reader, tenant), ATTEMPTS);
    return await read(reader, place);
  } finally {
    await reader.query('rollback').catch((fault: Error) => {
      broken = fault;
    });
    reader.release(broken);
  }
}

/** Leaves `reader` in a transaction with the snapshot. */
async function openSnapshot(db: Pool, reader: Tx, tenant: TenantId): Promise<Place> {
  await reader.query('rollback; begin isolation level repeatable read read only');
  if (isDistributed()) return numberBefore(db, reader, tenant);
  const { rows } = await reader.query<{ snapshot: string | null }>({
    name: 'export-log-snapshot',
    text: `select case when exists (select from unnumbered_events where tenant_id = $1)
                       then pg_export_snapshot() end as snapshot`,
    values: [tenant],
  });
  const { snapshot } = rows[0]!;
  return snapshot === null ? findNewestPlace(reader, tenant) : numberIn(db, snapshot, tenant);
}

/**
 * Where tables are distributed, the snapshot is one of the tenant's server, and no other transaction can have it. So
 * events that wait are numbered, and all begins anew, until a snapshot shows none.
 */
async function numberBefore(db: Pool, reader: Tx, tenant: TenantId): Promise<Place> {
  for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
    const { rowCount } = await reader.query({
      name: 'find-unnumbered-in-snapshot',
      text: 'select from unnumbered_events where tenant_id = $1 limit 1',
      values: [tenant],
    });
    if (rowCount === 0) return findNewestPlace(reader, tenant);
    await inTransaction(db, (tx) => appendNumberedEvents(tx, tenant, []));
    await reader.query('rollback; begin isolation level repeatable read read only');
  }
  throw new Error('the log of the tenant moves too fast for a snapshot');
}

/** Number the events that `snapshot` shows without a number; returns the place after them. */
function numberIn(db: Pool, snapshot: string, tenant: TenantId): Promise<Place> {
  const number = async (tx: Tx) => {
    await appendNumberedEvents(tx, tenant, []);
    return findNewestPlace(tx, tenant);
  };
  return transactOnce(db, number, {
    begin: `begin isolation level repeatable read; set transaction snapshot '${snapshot}'`,
  });
}
