/** Read what moderators did. */
import type { Db } from '../db/pool.ts';
import type { TenantId } from '../tenants/tenant.ts';
import type { ModerationEvent } from './moderation-event.ts';
import { type ModerationEventFilter, selectModerationEvents } from './moderation-events.sql.ts';

/** The newest first. Of a room or a user that never was there is nothing to read. */
export async function listModerationEvents(
  db: Db,
  tenant: TenantId,
  filter: ModerationEventFilter,
): Promise<ModerationEvent[]> {
  return selectModerationEvents(db, tenant, filter);
}
