/** Follow who comes to the rooms of a name, changes there and leaves. */
import type { Place } from '../../events/event.ts';
import { authorizeActor } from '../rooms/actor.ts';
import { getRoom } from '../rooms/get-room.ts';
import { type ActorName, isHiddenFrom, type Participant } from '../rooms/participant.ts';
import { type Follower, followEvents, type Send, type StreamDeps } from './follow-events.ts';
import type { StreamItem } from './stream-event.ts';

export interface Watching {
  /** Name of a room. */
  readonly room: string;
  readonly actor: ActorName | undefined;
  /** What has been dealt with; `undefined`: nothing. */
  readonly after: Place | undefined;
  readonly signal: AbortSignal;
}

/**
 * Without those who are hidden from the actor; of one who hides only later, it tells no more from then
 * on. Fails with `not_found` and `capability_required`, also later: an actor who leaves, or loses the
 * right to see the roster, sees no more of it.
 */
export async function watchParticipants(
  deps: StreamDeps,
  follower: Follower,
  { room, actor, after, signal }: Watching,
  send: Send,
): Promise<void> {
  const { tenant } = follower;
  const authorize = async () => {
    const { uid } = await getRoom(deps.db, tenant, { name: room, uid: undefined });
    await authorizeActor(deps.db, tenant, { uid }, actor, 'roster.view');
  };
  await authorize();
  await followEvents(deps, follower, { room, only: 'participants', after, signal }, async (item) => {
    const subject = participantOf(item);
    // Tokens lapse without an event at that instant, so bookmarks are a time to look, too.
    if (actor && (subject?.username === actor.username || item.type === 'bookmark')) await authorize();
    if (!subject || !isHiddenFrom(actor, subject)) await send(item);
  });
}

/** Whom an item tells of. The stream tells of participants only. */
function participantOf(item: StreamItem): Participant | undefined {
  if (item.type === 'snapshot') return item.subject as Participant;
  return item.type === 'event' ? (item.event.subject as Participant) : undefined;
}
