/** Find the room that a call is about. */
import type { Db, Tx } from '../../base/db/pool.ts';
import { Failure, notFound } from '../../base/failure.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import type { LockedRoom, Room, RoomReference } from './room.ts';
import { findNames, findRoom, lockRoomByName } from './rooms.sql.ts';

/** By name, by uid or both. Of rooms that share a name: the live one, otherwise the one that ended last. */
export async function getRoom(db: Db, tenant: TenantId, reference: RoomReference): Promise<Room> {
  const room = await findRoom(db, tenant, reference);
  if (!room) throw notFound('room');
  return room;
}

/** The names of rooms, by uid. */
export async function findRoomNames(
  db: Db,
  tenant: TenantId,
  uids: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  if (uids.length === 0) return new Map();
  return new Map((await findNames(db, tenant, uids)).map(({ uid, name }) => [uid, name]));
}

/** Lock the newest room of a name, live or not: check the caller's rights before `refuseEnded()`. */
export async function getLockedRoom(tx: Tx, tenant: TenantId, name: string): Promise<LockedRoom> {
  const room = await lockRoomByName(tx, tenant, name);
  if (!room) throw notFound('room');
  return room;
}

export function refuseEnded(room: Pick<Room, 'state'>): void {
  if (room.state !== 'LIVE') throw new Failure('room_ended');
}
