/** Read a participant of a room, whether or not the room has ended. */
import type { Db } from '../../base/db/pool.ts';
import { notFound } from '../../base/failure.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import { authorizeActor } from './authorize-actor.ts';
import { getRoom } from './get-room.ts';
import { type ActorName, isHiddenFrom, type Participant } from './participant.ts';
import { findParticipant } from './participants.sql.ts';
import type { RoomReference } from './room.ts';

/**
 * Fails with `not_found`, also for a participant who is hidden from the actor, and with
 * `capability_required`.
 */
export async function getParticipant(
  db: Db,
  tenant: TenantId,
  wanted: { readonly room: RoomReference; readonly username: string; readonly actor: ActorName | undefined },
): Promise<Participant> {
  const room = await getRoom(db, tenant, wanted.room);
  const participant = await findParticipant(db, tenant, room.uid, wanted.username);
  if (!participant || isHiddenFrom(wanted.actor, participant)) throw notFound('participant');
  await authorizeActor(db, { tenant }, room, wanted.actor, 'roster.view');
  return participant;
}
