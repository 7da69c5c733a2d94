/** Read what moderators did. */
import type { Db } from '../../base/db/pool.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import { getRoom } from '../rooms/get-room.ts';
import type { ModerationEvent } from './moderation-event.ts';
import { findModerationEvents, type ModerationEventFilter } from './moderation-events.sql.ts';

/** Newest first. Fails with `not_found` if no room ever had the name. */
export async function listModerationEvents(
  db: Db,
  tenant: TenantId,
  filter: ModerationEventFilter,
): Promise<ModerationEvent[]> {
  if (filter.room !== undefined) await getRoom(db, tenant, { name: filter.room, uid: undefined });
  return findModerationEvents(db, tenant, filter);
}
