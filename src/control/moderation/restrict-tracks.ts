/**
 * Mute a participant's tracks or revoke their publish rights, and undo either.
 *
 * A restricted track is missing from the next token, and relays are notified. Once released, it is in the
 * next token again; releasing does not unmute it.
 */
import { PUBLISH_RIGHTS, type PublishRight } from '../../access/rights/publish-rights.ts';
import type { Tx } from '../../base/db/pool.ts';
import type { Moderator } from '../rooms/moderator.ts';
import { updateRestrictions } from '../rooms/participants.sql.ts';
import { participantUpdated } from '../rooms/room-events.ts';
import { getTarget, type TargetName } from './get-target.ts';
import type { Moderated } from './kick-participant.ts';
import { recordModeration } from './record-moderation.ts';

const RESTRICTIONS = {
  force_mute: { capability: 'moderate.mute', list: 'muted', takes: true },
  release_mute: { capability: 'moderate.mute', list: 'muted', takes: false },
  revoke_publish: { capability: 'moderate.revoke_publish', list: 'publishRevoked', takes: true },
  restore_publish: { capability: 'moderate.revoke_publish', list: 'publishRevoked', takes: false },
} as const;

export type RestrictingAction = keyof typeof RESTRICTIONS;

export interface RestrictRequest extends TargetName {
  readonly tracks: readonly PublishRight[];
  readonly reason: string;
}

/** Fails as `getTarget()`. A restriction may be repeated, and is recorded again. */
export async function restrictTracks(
  tx: Tx,
  caller: Moderator,
  action: RestrictingAction,
  request: RestrictRequest,
): Promise<Moderated> {
  const { capability, list, takes } = RESTRICTIONS[action];
  const { tracks } = request;
  const { room, participant: before } = await getTarget(tx, caller, request, capability);

  const taken = PUBLISH_RIGHTS.filter((right) =>
    tracks.includes(right) ? takes : before[list].includes(right),
  );
  const participant = await updateRestrictions(tx, caller.tenant, { ...before, [list]: taken });
  const event = await recordModeration(
    tx,
    caller,
    {
      action,
      room,
      subject: { kind: 'user', value: participant.username },
      tracks,
      reason: request.reason,
      actor: request.actor?.username ?? null,
    },
    [participantUpdated(participant)],
  );
  return { participant, event };
}
