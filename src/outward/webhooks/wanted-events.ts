/** Which events a webhook gets: those of its types, and of its rooms. */
import { matchesRoom } from '../../access/rights/room-names.ts';
import type { LoggedEvent } from '../../events/event.ts';
import { wantedTypes } from '../events/event-catalogue.ts';
import { roomNameOf } from '../events/public-event.ts';
import type { WebhookSettings } from './webhook.ts';

export interface WantedEvents {
  readonly types: readonly string[];
  /** Names and patterns. None: events with and without a room. */
  readonly rooms: readonly string[];
}

export function wantedEvents({ types, rooms }: Pick<WebhookSettings, 'types' | 'rooms'>): WantedEvents {
  return { types: wantedTypes(types), rooms };
}

/** Like the query of `listPublicEvents()`, for an event that was put aside before the tenant changed its mind. */
export function isWanted({ types, rooms }: WantedEvents, event: LoggedEvent): boolean {
  if (!types.includes(event.type)) return false;
  const room = roomNameOf(event);
  return rooms.length === 0 || (room !== null && rooms.some((each) => matchesRoom(each, room)));
}
