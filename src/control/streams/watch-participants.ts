/** Follow participants as they enter, change and leave the rooms of a name. */
import type { Place } from '../../events/event.ts';
import { authorizeActor } from '../rooms/authorize-actor.ts';
import { getRoom } from '../rooms/get-room.ts';
import { type ActorName, isHiddenFrom, type Participant } from '../rooms/participant.ts';
import { type Follower, followEvents, type StreamDeps } from './follow-events.ts';
import type { Send } from './snapshot-buffer.ts';
import type { StreamItem } from './stream-event.ts';

export interface Watching {
  /** Name of a room. */
  readonly room: string;
  readonly actor: ActorName | undefined;
  /** The last place that the client has processed; `undefined`: none. */
  readonly after: Place | undefined;
  readonly signal: AbortSignal;
}

/**
 * Omits participants hidden from the actor, from the moment they hide. Fails with `not_found` and
 * `capability_required`, also during the stream, once the actor leaves or loses the right to see the roster.
 */
export async function watchParticipants(
  deps: StreamDeps,
  follower: Follower,
  { room, actor, after, signal }: Watching,
  send: Send,
): Promise<void> {
  const { tenant } = follower;
  const authorize = () =>
    deps.calls.run(follower, async () => {
      const { uid } = await getRoom(deps.db, tenant, { name: room, uid: undefined });
      await authorizeActor(deps.db, { tenant }, { uid }, actor, 'roster.view');
    });
  await authorize();
  await followEvents(deps, follower, { room, only: 'participants', after, signal }, async (item) => {
    const subject = participantOf(item);
    // Tokens expire without an event at that instant, so bookmarks check the actor too.
    if (actor && (subject?.username === actor.username || item.type === 'bookmark')) await authorize();
    if (!subject || !isHiddenFrom(actor, subject)) await send(item);
  });
}

/** The participant of an item. This stream has only participants. */
function participantOf(item: StreamItem): Participant | undefined {
  if (item.type === 'snapshot') return item.subject as Participant;
  return item.type === 'event' ? (item.event.subject as Participant) : undefined;
}
