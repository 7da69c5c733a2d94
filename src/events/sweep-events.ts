/** Forgets events that nobody can ask for any more. */
import type { Deps } from '../deps.ts';
import { type Repeating, repeat } from '../lib/repeat.ts';
import { EVENT_DAYS } from './event.ts';
import { deleteOldEvents } from './events.sql.ts';

const EVERY_SECONDS = 300;
const AT_ONCE = 5_000;

export function startEventsSweep(deps: Deps): Repeating {
  const sweep = async () => {
    while ((await deleteOldEvents(deps.db, { days: EVENT_DAYS, limit: AT_ONCE })) >= AT_ONCE);
  };
  return repeat(EVERY_SECONDS, sweep, (error) =>
    deps.log.warn({ err: error }, 'old events were not removed'),
  );
}
