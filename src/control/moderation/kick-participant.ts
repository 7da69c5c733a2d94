/** Make a user leave a room. The next token is of a new epoch, and those before it are void. */

import type { AuthenticatedCaller } from '../../access/keys/authenticate.ts';
import type { Tx } from '../../base/db/pool.ts';
import type { Participant } from '../rooms/participant.ts';
import { expel } from '../rooms/participants.sql.ts';
import { participantExpelled } from '../rooms/room-events.ts';
import { getTarget, type TargetName } from './get-target.ts';
import type { ModerationEvent } from './moderation-event.ts';
import { recordModeration } from './record-moderation.ts';

export interface KickRequest extends TargetName {
  readonly reason: string;
}

/** What was done to a participant, and who that is now. */
export interface Moderated {
  readonly participant: Participant;
  readonly event: ModerationEvent;
}

/** Fails as `getTarget()`. Whoever has left already may hold tokens all the same: they are void too. */
export async function kickParticipant(
  tx: Tx,
  caller: AuthenticatedCaller,
  request: KickRequest,
): Promise<Moderated> {
  const { tenant } = caller;
  const { room, participant } = await getTarget(tx, tenant, request, 'moderate.kick');

  const left = await expel(tx, tenant, room.uid, 'kicked', [participant.username]);
  const event = await recordModeration(
    tx,
    caller,
    {
      action: 'kick',
      room,
      subject: { kind: 'user', value: participant.username },
      reason: request.reason,
      actor: request.actor?.username ?? null,
    },
    left.map(participantExpelled),
  );
  return { participant: left[0] ?? { ...participant, devices: [] }, event };
}
