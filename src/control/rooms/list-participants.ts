/** Read the participants of a room, by name, whether or not the room has ended. */
import type { Db } from '../../base/db/pool.ts';
import { invalidField, notFound } from '../../base/failure.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import { authorizeActor } from './authorize-actor.ts';
import type { ActorName, Participant } from './participant.ts';
import { findRoster, type Roster } from './participants.sql.ts';
import type { RoomReference } from './room.ts';

export interface RosterRequest {
  readonly room: RoomReference;
  readonly actor: ActorName | undefined;
  /** Also participants who have left. */
  readonly includeLeft: boolean;
  /** The last participant of the previous page. */
  readonly after: Pick<Participant, 'roomUid' | 'username'> | undefined;
  /** Only those whose names contain this, in any case. */
  readonly containing?: string | undefined;
  readonly limit: number;
}

/**
 * Omits participants hidden from the actor. Fails with `not_found`, `capability_required` and, if `after` is
 * of another room, `invalid_request`.
 */
export async function listParticipants(db: Db, tenant: TenantId, request: RosterRequest): Promise<Roster> {
  const { room, after, actor } = request;
  // Later pages list the room of the first page, even if another room has its name by then.
  const isOfRoom = after === undefined || room.uid === undefined || room.uid === after.roomUid;
  const listed = after === undefined ? room : { name: room.name, uid: after.roomUid };
  const roster = isOfRoom
    ? await findRoster(db, tenant, listed, { ...request, after: after?.username })
    : undefined;
  if (!roster) {
    if (after === undefined) throw notFound('room');
    throw invalidField('page_token', 'must be one that an answer gave for this room');
  }
  await authorizeActor(db, { tenant }, { uid: roster.roomUid }, actor, 'roster.view');
  return roster;
}
