/** Create a room, live at once. This needs no credit. */

import type { AuthenticatedCaller } from '../../access/keys/authenticate.ts';
import { mayJoinRoom } from '../../access/rights/room-names.ts';
import type { Tx } from '../../base/db/pool.ts';
import { Failure } from '../../base/failure.ts';
import { limitHolderOf } from '../../base/tenants/limited-caller.ts';
import { takePlace } from '../../base/tenants/places.sql.ts';
import { appendEvents } from '../../events/append-events.sql.ts';
import type { Room } from './room.ts';
import { roomCreated } from './room-events.ts';
import { countLiveRooms, insertRoom } from './rooms.sql.ts';

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
  const room = await insertRoom(tx, caller.tenant, wanted);
  if (!room) throw new Failure('room_exists');
  await takePlace(tx, limitHolderOf(caller), 'rooms', (most) => countLiveRooms(tx, caller.tenant, most));
  await appendEvents(tx, caller.tenant, [roomCreated(room)]);
  return room;
}
