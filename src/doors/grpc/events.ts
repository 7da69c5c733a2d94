/** Events and streams of them: our types to the wire, and the places where they are resumed. */
import { type EventSchema, Event_Type as Type } from '@boxoffice/contract/event';
import type { MessageInitShape } from '@bufbuild/protobuf';
import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { invalidField } from '../../base/failure.ts';
import type { Event, EventType, Happening, StreamItem } from '../../control/streams/stream-event.ts';
import type { Place } from '../../events/event.ts';
import { parseToken, renderToken } from './fields.ts';
import { renderModerationEvent, renderParticipant, renderRoom, renderWatchdog } from './render.ts';

type WireEvent = MessageInitShape<typeof EventSchema>;

/** What every response of a stream holds. */
export interface Told {
  readonly event: WireEvent;
  readonly resumeToken: string;
}

/** What a place is among: the tenant, and which of its events were asked for. */
export type Scope = readonly string[];

/** What has been dealt with; `undefined`: begin anew. A place of another scope is none. */
export function parseResumeToken(text: string, scope: Scope): Place | undefined {
  const parts = parseToken(text, 'resume_token');
  if (!parts) return undefined;
  const [, seq = '', ms = ''] = parts;
  if (/^\d{1,18}$/.test(seq) && /^\d{0,15}$/.test(ms)) {
    const place = { seq: BigInt(seq), at: ms === '' ? null : new Date(Number(ms)) };
    if (renderResumeToken(place, scope) === text) return place;
  }
  throw invalidField('resume_token', 'must be one that an answer gave, about the same');
}

export function renderResumeToken({ seq, at }: Place, scope: Scope): string {
  return renderToken(['e', String(seq), at === null ? '' : String(at.getTime()), ...scope]);
}

export function renderItem(item: StreamItem, scope: Scope): Told {
  switch (item.type) {
    case 'event':
      return { event: renderEvent(item.event), resumeToken: renderResumeToken(item.event, scope) };
    case 'snapshot':
      return { event: renderResource(item), resumeToken: '' };
    case 'bookmark': {
      const event = { seq: item.seq, type: Type.BOOKMARK, kind: { case: 'bookmark' as const, value: {} } };
      return { event, resumeToken: renderResumeToken(item, scope) };
    }
    case 'reset':
      return { event: RESET, resumeToken: '' };
  }
}

export const RESET: WireEvent = { type: Type.RESET, kind: { case: 'reset', value: {} } };

const TYPES: Readonly<Record<EventType, Type>> = {
  room_created: Type.ROOM_CREATED,
  room_updated: Type.ROOM_UPDATED,
  room_ended: Type.ROOM_ENDED,
  participant_entered: Type.PARTICIPANT_ENTERED,
  participant_updated: Type.PARTICIPANT_UPDATED,
  participant_left: Type.PARTICIPANT_LEFT,
  moderation: Type.MODERATION,
  watchdog_warned: Type.WATCHDOG_WARNED,
  watchdog_rearmed: Type.WATCHDOG_REARMED,
  watchdog_fired: Type.WATCHDOG_FIRED,
};

export function renderEvent(event: Event): WireEvent {
  return {
    seq: event.seq,
    time: timestampFromDate(event.at),
    roomUid: event.roomUid ?? '',
    kind: renderKind(event, event.seq),
    type: TYPES[event.type],
  };
}

function renderKind(what: Happening, seq: bigint): NonNullable<WireEvent['kind']> {
  switch (what.type) {
    case 'room_created':
    case 'room_updated':
    case 'room_ended':
      return { case: 'room', value: renderRoom(what.subject) };
    case 'participant_entered':
    case 'participant_updated':
    case 'participant_left':
      return { case: 'participant', value: renderParticipant(what.subject) };
    case 'moderation':
      return { case: 'moderation', value: renderModerationEvent({ ...what.subject, id: seq }) };
    case 'watchdog_warned':
    case 'watchdog_rearmed':
    case 'watchdog_fired':
      return { case: 'watchdog', value: renderWatchdog(what.subject) };
  }
}

function renderResource(item: StreamItem & { readonly type: 'snapshot' }): WireEvent {
  const type = Type.SNAPSHOT;
  switch (item.of) {
    case 'room':
      return { type, roomUid: item.subject.uid, kind: { case: 'room', value: renderRoom(item.subject) } };
    case 'participant': {
      const value = renderParticipant(item.subject);
      return { type, roomUid: item.subject.roomUid, kind: { case: 'participant', value } };
    }
    case 'watchdog': {
      const value = renderWatchdog(item.subject);
      return { type, roomUid: item.subject.roomUid, kind: { case: 'watchdog', value } };
    }
  }
}
