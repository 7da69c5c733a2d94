/** The events of rooms and participants, but `room_created`: statements that create a room append it. */
import type { NewEvent } from '../../events/event.ts';
import type { Participant } from './participant.ts';
import type { Room } from './room.ts';

export const ROOM_EVENTS = {
  room_created: 'A room was created.',
  room_updated: 'The policy or the metadata of a room changed.',
  room_ended: 'A room ended.',
} as const;

export const PARTICIPANT_EVENTS = {
  participant_entered: 'A user entered a room.',
  participant_updated: 'The role, the rank, the capabilities or the devices of a user in a room changed.',
  participant_left: 'A user left a room.',
} as const;

export function roomUpdated(room: Room): NewEvent {
  return { type: 'room_updated', roomUid: room.uid, subject: room };
}

/** Relays refuse every token for the room from now on. */
export function roomEnded(room: Room): NewEvent {
  return { type: 'room_ended', roomUid: room.uid, subject: room, revokes: true };
}

export function participantUpdated(participant: Participant): NewEvent {
  return { type: 'participant_updated', roomUid: participant.roomUid, subject: participant };
}

/** The last token expired, or the room ended, which has its own event. */
export function participantLeft(participant: Participant): NewEvent {
  return { type: 'participant_left', roomUid: participant.roomUid, subject: participant };
}

/** Like `participantLeft()`, for a participant whose tokens are void before they expire. */
export function participantExpelled(participant: Participant): NewEvent {
  return { ...participantLeft(participant), revokes: true };
}

/** Like `participantUpdated()`, for publish rights that a valid token still grants. */
export function participantRestricted(participant: Participant): NewEvent {
  return { ...participantUpdated(participant), revokes: true };
}
