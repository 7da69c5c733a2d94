/** Create a room, live at once. This needs no credit. */

import type { AuthenticatedCaller } from '../../access/keys/authenticate.ts';
import { mayJoinRoom } from '../../access/rights/room-names.ts';
import type { Tx } from '../../base/db/pool.ts';
import { Failure } from '../../base/failure.ts';
import { limitHolderOf } from '../../base/tenants/limited-caller.ts';
import { takeCountedPlace } from '../../base/tenants/places.sql.ts';
import { insertRoom } from './insert-room.sql.ts';
import { ROOMS_LIMIT, type Room } from './room.ts';
import { countLiveRooms } from './rooms.sql.ts';

/**
 * Fails with `ceiling_exceeded`, with `room_exists` while a live room has the name, and with
 * `quota_exceeded`.
 */
export async function createRoom(
  tx: Tx,
  caller: AuthenticatedCaller,
  wanted: Pick<Room, 'name' | 'policy' | 'metadata'>,
): Promise<Room> {
  if (!mayJoinRoom(caller.ceiling.rooms, wanted.name)) {
    throw new Failure('ceiling_exceeded', { metadata: { excess: `room ${wanted.name}` } });
  }
  const holder = limitHolderOf(caller);
  const created = await insertRoom(tx, holder, wanted);
  if (!created) throw new Failure('room_exists');
  if (!created.isPlaced) {
    await takeCountedPlace(tx, holder, ROOMS_LIMIT, (most) => countLiveRooms(tx, caller.tenant, most));
  }
  return created.room;
}
