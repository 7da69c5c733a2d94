/** The events that watchdogs append. */
import type { NewEvent } from '../../events/event.ts';
import type { Watchdog } from './watchdog.ts';

export const WATCHDOG_EVENTS = {
  watchdog_warned: 'A watchdog is about to fire.',
  watchdog_rearmed: 'A watchdog that had warned will not fire for now.',
  watchdog_fired: 'A watchdog fired.',
} as const;

export type WatchdogEventType = keyof typeof WATCHDOG_EVENTS;

export function watchdogEvent(type: WatchdogEventType, watchdog: Watchdog): NewEvent {
  return { type, roomUid: watchdog.roomUid, subject: watchdog };
}
