/** Create a room, live at once. This needs no credit. */

import type { AuthenticatedCaller } from '../../access/keys/authenticate.ts';
import { mayJoinRoom } from '../../access/rights/room-names.ts';
import type { Tx } from '../../base/db/pool.ts';
import { Failure } from '../../base/failure.ts';
import { appendEvents } from '../../events/append-events.sql.ts';
import type { Room } from './room.ts';
import { roomCreated } from './room-events.ts';
import { insertRoom } from './rooms.sql.ts';

/** Fails with `ceiling_exceeded` and, while a live room has the name, `room_exists`. */
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
  await appendEvents(tx, caller.tenant, [roomCreated(room)]);
  return room;
}
