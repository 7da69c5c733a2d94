/** What a room incarnation cost: the sums of its sessions, and what was used in it and belongs to none of them. */
import type { Db } from '../../base/db/pool.ts';
import { Failure } from '../../base/failure.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import type { Room } from '../rooms/room.ts';
import { findRoom } from '../rooms/rooms.sql.ts';
import { findRoomCosts, findRoomUsage, type RoomUsage } from './room-usage.sql.ts';
import { findAssignedUntil } from './session-cursors.sql.ts';

export interface RoomCost extends RoomUsage {
  readonly room: Pick<Room, 'uid' | 'name' | 'createdAt' | 'endedAt'>;
  /** The sums have all charges before this time. */
  readonly assignedUntil: Date;
}

/** Fails with `not_found`. */
export async function getRoomCost(db: Db, tenant: TenantId, uid: string): Promise<RoomCost> {
  // PostgreSQL takes no text with NUL.
  const room = uid.includes('\0') ? undefined : await findRoom(db, tenant, { uid });
  if (!room) throw new Failure('not_found');
  const assignedUntil = await findAssignedUntil(db, tenant);
  return { room, ...(await findRoomUsage(db, tenant, room)), assignedUntil };
}

/** Micros that were charged for each of the rooms so far, by uid. One without usage is left out. */
export async function getRoomCosts(
  db: Db,
  tenant: TenantId,
  rooms: readonly Pick<Room, 'uid' | 'name'>[],
): Promise<ReadonlyMap<string, bigint>> {
  return rooms.length === 0 ? new Map() : findRoomCosts(db, tenant, rooms);
}
