/** Find the participant whom a moderator means, and whether he may. */
import type { Tx } from '../db/pool.ts';
import { notFound } from '../failure.ts';
import { type ActorName, authorizeActor, refuseWithoutStanding } from '../participants/actor.ts';
import type { Participant } from '../participants/participant.ts';
import { findParticipant } from '../participants/participants.sql.ts';
import { getLockedRoom, refuseEnded } from '../rooms/get-room.ts';
import type { LockedRoom } from '../rooms/room.ts';
import type { TenantId } from '../tenants/tenant.ts';
import type { Capability } from '../tokens/capabilities.ts';

export interface TargetName {
  /** Name of a room. */
  readonly room: string;
  readonly username: string;
  readonly actor: ActorName | undefined;
}

export interface Target {
  /** Live, and locked. */
  readonly room: LockedRoom;
  /** Present or not. */
  readonly participant: Participant;
}

/** Fails with `not_found`, `capability_required`, `insufficient_standing` and `room_ended`. */
export async function getTarget(
  tx: Tx,
  tenant: TenantId,
  { room: name, username, actor }: TargetName,
  capability: Capability,
): Promise<Target> {
  const room = await getLockedRoom(tx, tenant, name);
  const participant = await findParticipant(tx, tenant, room.uid, username);
  if (!participant) throw notFound('participant');
  const standing = await authorizeActor(tx, tenant, room, actor, capability);
  refuseWithoutStanding(standing, participant);
  refuseEnded(room);
  return { room, participant };
}
