/** Read the participants of a room, by name, whether or not the room has ended. */
import type { Db } from '../../base/db/pool.ts';
import { invalidField } from '../../base/failure.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import { authorizeActor } from './actor.ts';
import type { RoomReference } from './get-participant.ts';
import { getRoom } from './get-room.ts';
import type { ActorName, Participant } from './participant.ts';
import { findParticipants } from './participants.sql.ts';
import type { Room } from './room.ts';
import { findRoom } from './rooms.sql.ts';

export interface RosterRequest {
  readonly room: RoomReference;
  readonly actor: ActorName | undefined;
  /** Also participants who have left. */
  readonly includeLeft: boolean;
  /** The last participant of the previous page. */
  readonly after: Pick<Participant, 'roomUid' | 'username'> | undefined;
  readonly limit: number;
}

/**
 * Omits participants hidden from the actor. Fails with `not_found`, `capability_required` and, if `after` is
 * of another room, `invalid_request`.
 */
export async function listParticipants(
  db: Db,
  tenant: TenantId,
  request: RosterRequest,
): Promise<Participant[]> {
  const { uid } = await getListedRoom(db, tenant, request);
  await authorizeActor(db, tenant, { uid }, request.actor, 'roster.view');
  return findParticipants(db, tenant, uid, { ...request, after: request.after?.username });
}

/** Later pages list the room of the first page, even if another room has its name by then. */
async function getListedRoom(
  db: Db,
  tenant: TenantId,
  { room, after }: Pick<RosterRequest, 'room' | 'after'>,
): Promise<Pick<Room, 'uid'>> {
  if (!after) return getRoom(db, tenant, room);
  const uid = after.roomUid;
  const isOfRoom = room.uid === undefined || room.uid === uid;
  const found = isOfRoom ? await findRoom(db, tenant, { name: room.name, uid }) : undefined;
  if (!found) throw invalidField('page_token', 'must be one that an answer gave for this room');
  return found;
}
