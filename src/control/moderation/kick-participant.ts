/** Make a user leave a room. The next token has a new epoch, and earlier ones are void. */
import type { Tx } from '../../base/db/pool.ts';
import type { Moderator } from '../rooms/moderator.ts';
import type { Participant } from '../rooms/participant.ts';
import { expel } from '../rooms/participants.sql.ts';
import { participantExpelled } from '../rooms/room-events.ts';
import { getTarget, type TargetName } from './get-target.ts';
import type { ModerationEvent } from './moderation-event.ts';
import { recordModeration } from './record-moderation.ts';

export interface KickRequest extends TargetName {
  readonly reason: string;
}

/** The event of a moderator's act, and the participant after it. */
export interface Moderated {
  readonly participant: Participant;
  readonly event: ModerationEvent;
}

/** Fails as `getTarget()`. A participant who has left may still hold tokens: they become void too. */
export async function kickParticipant(tx: Tx, caller: Moderator, request: KickRequest): Promise<Moderated> {
  const { tenant } = caller;
  const { room, participant } = await getTarget(tx, caller, request, 'moderate.kick');

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
