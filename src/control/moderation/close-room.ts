/** End a room as a moderator, and record the act. */
import type { Tx } from '../../base/db/pool.ts';
import { authorizeActor } from '../rooms/authorize-actor.ts';
import { endRoom } from '../rooms/end-room.ts';
import { getLockedRoom, refuseEnded } from '../rooms/get-room.ts';
import type { Moderator } from '../rooms/moderator.ts';
import type { ActorName } from '../rooms/participant.ts';
import type { Room } from '../rooms/room.ts';
import type { ModerationEvent } from './moderation-event.ts';
import { recordModeration } from './record-moderation.ts';

export interface CloseRequest {
  /** Name of a room. */
  readonly room: string;
  readonly reason: string;
  readonly actor: ActorName | undefined;
}

/** Fails with `not_found`, `capability_required` and `room_ended`. */
export async function closeRoom(
  tx: Tx,
  caller: Moderator,
  { room: name, reason, actor }: CloseRequest,
): Promise<{ room: Room; event: ModerationEvent }> {
  const { tenant } = caller;
  const live = await getLockedRoom(tx, tenant, name);
  const standing = await authorizeActor(tx, caller, live, actor, 'moderate.close_room');
  refuseEnded(live);

  const room = await endRoom(tx, tenant, live, 'closed');
  const act = { action: 'close_room', room, subject: null, reason, actor: standing.username } as const;
  return { room, event: await recordModeration(tx, caller, act) };
}
