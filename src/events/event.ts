/**
 * Events: what happened to a tenant's rooms, numbered without a gap.
 *
 * An event keeps its subject as it was just after it happened.
 */
import type { ModerationEvent } from '../moderation/moderation-event.ts';
import type { Participant } from '../participants/participant.ts';
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
  | { readonly type: 'watchdog_warned' | 'watchdog_fired'; readonly subject: Watchdog };

export type EventType = Happening['type'];

export type Event = Happening & {
  readonly seq: bigint;
  readonly at: Date;
  /** `null`: the whole tenant. */
  readonly roomUid: string | null;
};

/** How long events can be read. */
export const EVENT_DAYS = 7;
