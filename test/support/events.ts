/** Reads the event log of a tenant. */
import type { Pool } from '../../src/base/db/pool.ts';
import { inTransaction } from '../../src/base/db/transaction.ts';
import type { TenantId } from '../../src/base/tenants/tenant.ts';
import { lockStream } from '../../src/events/append-events.sql.ts';
import { numberEvents } from '../../src/events/number-events.ts';

/** Restart the log of a tenant at event 1, so that a test reads only its own events. */
export async function emptyLog(db: Pool, tenant: TenantId): Promise<void> {
  await inTransaction(db, async (tx) => {
    // Listeners lock their cursor first.
    await tx.query('select from event_cursors where tenant_id = $1 for update', [tenant]);
    await lockStream(tx, tenant);
    for (const table of ['unnumbered_events', 'events', 'event_turns', 'event_cursors', 'event_streams']) {
      await tx.query(`delete from ${table} where tenant_id = $1`, [tenant]);
    }
  });
}

export interface ToldEvent {
  readonly type: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into subjects of every type
  readonly subject: any;
}

/** The events of a tenant so far, in order. */
export async function eventsOf(db: Pool, tenant: TenantId): Promise<ToldEvent[]> {
  await numberEvents(db, [tenant]);
  const { rows } = await db.query<ToldEvent>(
    'select type, subject from events where tenant_id = $1 order by seq',
    [tenant],
  );
  return rows;
}
