/** Read what moderators did. */
import type { Db } from '../../base/db/pool.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import { getRoom } from '../rooms/get-room.ts';
import type { ModerationEvent } from './moderation-event.ts';
import {
  findModerationEvents,
  findModerationEventsById,
  type ModerationEventFilter,
} from './moderation-events.sql.ts';

/** Newest first. Fails with `not_found` if no room ever had the name. */
export async function listModerationEvents(
  db: Db,
  tenant: TenantId,
  filter: ModerationEventFilter,
): Promise<ModerationEvent[]> {
  if (filter.room !== undefined) await getRoom(db, tenant, { name: filter.room, uid: undefined });
  return findModerationEvents(db, tenant, filter);
}

/** The acts of these numbers, by number as text. */
export async function findActs(
  db: Db,
  tenant: TenantId,
  ids: readonly bigint[],
): Promise<ReadonlyMap<string, ModerationEvent>> {
  if (ids.length === 0) return new Map();
  const acts = await findModerationEventsById(db, tenant, ids);
  return new Map(acts.map((act) => [String(act.id), act]));
}
