/** Read events from a place that a caller has kept. */
import type { Db } from '../db/pool.ts';
import { invalidField } from '../failure.ts';
import type { TenantId } from '../tenants/tenant.ts';
import type { EventFilter } from './event.ts';
import { type EventPage, selectEvents } from './events.sql.ts';

/** Fails where `after` is yet to come: no answer gave it. */
export async function readEvents(
  db: Db,
  tenant: TenantId,
  reading: EventFilter & { readonly after: bigint; readonly limit: number },
): Promise<EventPage> {
  const page = await selectEvents(db, tenant, reading);
  if (reading.after > page.lastSeq) throw invalidField('resume_token', 'must be one that an answer gave');
  return page;
}
