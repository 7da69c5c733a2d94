/**
 * Events: what happened to a tenant's rooms, numbered without a gap.
 *
 * An event keeps its subject as it was just after it happened.
 */
import type { Place } from '../../events/event.ts';
import type { ModerationEvent } from '../moderation/moderation-event.ts';
import type { Participant } from '../rooms/participant.ts';
import type { Room } from '../rooms/room.ts';
import type { Watchdog } from '../watchdogs/watchdog.ts';

/** What is told, by type. */
export type Happening =
  | { readonly type: 'room_created' | 'room_updated' | 'room_ended'; readonly subject: Room }
  | {
      readonly type: 'participant_entered' | 'participant_updated' | 'participant_left';
      readonly subject: Participant;
    }
  // Its id is the number of the event.
  | { readonly type: 'moderation'; readonly subject: Omit<ModerationEvent, 'id'> }
  | { readonly type: 'watchdog_warned' | 'watchdog_rearmed' | 'watchdog_fired'; readonly subject: Watchdog };

export type EventType = Happening['type'];

export type Event = Happening & {
  readonly seq: bigint;
  readonly at: Date;
  /** `null`: the whole tenant. */
  readonly roomUid: string | null;
};

/** Which events somebody wants to hear of. */
export interface EventFilter {
  /** Only those of rooms of this name. */
  readonly room: string | undefined;
  readonly only?: 'participants' | undefined;
}

/** What a stream of events is made of. */
export type StreamItem =
  | { readonly type: 'event'; readonly event: Event }
  /** A resource as it stands now: a part of a snapshot. */
  | ({ readonly type: 'snapshot' } & (
      | { readonly of: 'room'; readonly subject: Room }
      | { readonly of: 'participant'; readonly subject: Participant }
      | { readonly of: 'watchdog'; readonly subject: Watchdog }
    ))
  /** Everything up to here has been told. */
  | ({ readonly type: 'bookmark' } & Place)
  /** What was known before is to be forgotten. */
  | { readonly type: 'reset' };
