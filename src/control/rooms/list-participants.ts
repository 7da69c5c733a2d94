/** Read the participants of a room, by name, whether or not the room has ended. */
import type { Db } from '../../base/db/pool.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import { authorizeActor } from './actor.ts';
import type { RoomReference } from './get-participant.ts';
import { getRoom } from './get-room.ts';
import type { ActorName, Participant } from './participant.ts';
import { findParticipants } from './participants.sql.ts';

export interface RosterRequest {
  readonly room: RoomReference;
  readonly actor: ActorName | undefined;
  /** Also participants who have left. */
  readonly includeLeft: boolean;
  /** The last name of the previous page. */
  readonly after: string | undefined;
  readonly limit: number;
}

/** Omits participants hidden from the actor. Fails with `not_found` and `capability_required`. */
export async function listParticipants(
  db: Db,
  tenant: TenantId,
  request: RosterRequest,
): Promise<{ readonly roomUid: string; readonly participants: Participant[] }> {
  const { uid } = await getRoom(db, tenant, request.room);
  await authorizeActor(db, tenant, { uid }, request.actor, 'roster.view');
  return { roomUid: uid, participants: await findParticipants(db, tenant, uid, request) };
}
