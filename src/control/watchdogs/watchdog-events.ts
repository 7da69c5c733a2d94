/** The events that watchdogs append. */
import type { NewEvent } from '../../events/event.ts';
import type { Watchdog } from './watchdog.ts';

export type WatchdogEventType = 'watchdog_warned' | 'watchdog_rearmed' | 'watchdog_fired';

export function watchdogEvent(type: WatchdogEventType, watchdog: Watchdog): NewEvent {
  return { type, roomUid: watchdog.roomUid, subject: watchdog };
}
