/** Lift a ban. */
import type { Tx } from '../../base/db/pool.ts';
import { Failure, notFound } from '../../base/failure.ts';
import type { Ban, Subject } from '../bans/ban.ts';
import { liftBan, lockBan } from '../bans/bans.sql.ts';
import { authorizeActor } from '../rooms/authorize-actor.ts';
import { getLockedRoom } from '../rooms/get-room.ts';
import type { Moderator } from '../rooms/moderator.ts';
import type { ActorName } from '../rooms/participant.ts';
import type { ModerationEvent } from './moderation-event.ts';
import { recordModeration } from './record-moderation.ts';

export interface UnbanRequest {
  /** Name of a room; `undefined`: the ban of the whole tenant. */
  readonly room: string | undefined;
  readonly subject: Subject;
  readonly actor: ActorName | undefined;
}

/**
 * Works after the room has ended, too. Fails with `not_found`, with `capability_required`, and with
 * `insufficient_standing` if a higher rank set the ban.
 */
export async function unbanSubject(
  tx: Tx,
  caller: Moderator,
  request: UnbanRequest,
): Promise<{ ban: Ban; event: ModerationEvent }> {
  const { tenant } = caller;
  const { subject, actor } = request;
  const room = request.room === undefined ? null : await getLockedRoom(tx, tenant, request.room);
  const ban = await lockBan(tx, tenant, room?.name ?? null, subject);
  if (!ban) throw notFound('ban');
  const standing = await authorizeActor(tx, caller, room, actor, 'moderate.ban');
  if (standing.rank < ban.rank) throw new Failure('insufficient_standing');

  await liftBan(tx, tenant, ban.id);
  const act = { action: 'unban', room, subject, reason: '', actor: standing.username } as const;
  return { ban, event: await recordModeration(tx, caller, act) };
}
