/** End a room: all participants leave, and every token for it is void. */
import type { Tx } from '../../base/db/pool.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import { appendEvents } from '../../events/append-events.sql.ts';
import { authorizeActor } from './authorize-actor.ts';
import { getLockedRoom, refuseEnded } from './get-room.ts';
import type { ActorName } from './participant.ts';
import { expel } from './participants.sql.ts';
import type { EndReason, Room } from './room.ts';
import { participantLeft, roomEnded } from './room-events.ts';
import { markEnded } from './rooms.sql.ts';

/** `room` is live, and locked. */
export async function endRoom(
  tx: Tx,
  tenant: TenantId,
  room: Pick<Room, 'uid'>,
  reason: EndReason,
): Promise<Room> {
  const left = await expel(tx, tenant, room.uid, reason === 'watchdog' ? 'watchdog' : 'ended');
  const ended = await markEnded(tx, tenant, room.uid, reason);
  await appendEvents(tx, tenant, [...left.map(participantLeft), roomEnded(ended)]);
  return ended;
}

/** Fails with `not_found`, `capability_required` and `room_ended`. */
export async function endRoomByName(
  tx: Tx,
  tenant: TenantId,
  { name, actor }: { name: string; actor: ActorName | undefined },
): Promise<Room> {
  const room = await getLockedRoom(tx, tenant, name);
  await authorizeActor(tx, { tenant }, room, actor, 'room.end');
  refuseEnded(room);
  return endRoom(tx, tenant, room, 'ended');
}
