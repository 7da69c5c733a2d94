/** Find the target of a moderator's act, and check that the actor may act on it. */

import type { Capability } from '../../access/rights/capabilities.ts';
import type { Tx } from '../../base/db/pool.ts';
import { notFound } from '../../base/failure.ts';
import { authorizeActor } from '../rooms/authorize-actor.ts';
import { getLockedRoom, refuseEnded } from '../rooms/get-room.ts';
import type { Moderator } from '../rooms/moderator.ts';
import type { ActorName, Participant } from '../rooms/participant.ts';
import { findParticipant } from '../rooms/participants.sql.ts';
import { assertOutranks } from '../rooms/rank.ts';
import type { LockedRoom } from '../rooms/room.ts';

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

/** Fails with `not_found`, `capability_required`, `ceiling_exceeded`, `insufficient_standing` and `room_ended`. */
export async function getTarget(
  tx: Tx,
  caller: Pick<Moderator, 'tenant' | 'within'>,
  { room: name, username, actor }: TargetName,
  capability: Capability,
): Promise<Target> {
  const { tenant } = caller;
  const room = await getLockedRoom(tx, tenant, name);
  const participant = await findParticipant(tx, tenant, room.uid, username);
  if (!participant) throw notFound('participant');
  const standing = await authorizeActor(tx, caller, room, actor, capability);
  assertOutranks(standing, participant);
  refuseEnded(room);
  return { room, participant };
}
