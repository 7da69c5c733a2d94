/**
 * Take a participant's tracks, or give them back: by mutes, and by rights to publish.
 *
 * Either is missing in the next token and told to relays. What was given back is in the next token
 * again; a track that was muted is not unmuted by it.
 */

import type { AuthenticatedCaller } from '../../access/keys/authenticate.ts';
import { PUBLISH_RIGHTS, type PublishRight } from '../../access/rights/publish-rights.ts';
import type { Tx } from '../../base/db/pool.ts';
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

/** Fails as `getTarget()`. What is taken already may be taken again: it is recorded all the same. */
export async function restrictTracks(
  tx: Tx,
  caller: AuthenticatedCaller,
  action: RestrictingAction,
  request: RestrictRequest,
): Promise<Moderated> {
  const { capability, list, takes } = RESTRICTIONS[action];
  const { tracks } = request;
  const { room, participant: before } = await getTarget(tx, caller.tenant, request, capability);

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
