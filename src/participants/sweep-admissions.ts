/** Forgets admissions a day after their last token expired: by then nobody asks who was there. */
import type { Deps } from '../deps.ts';
import { type Repeating, repeat } from '../lib/repeat.ts';
import { deleteExpiredAdmissions } from './participants.sql.ts';

const EVERY_SECONDS = 300;
const KEEP_HOURS = 24;
const AT_ONCE = 5_000;

export function startAdmissionsSweep(deps: Deps): Repeating {
  const sweep = async () => {
    while ((await deleteExpiredAdmissions(deps.db, { keepHours: KEEP_HOURS, limit: AT_ONCE })) === AT_ONCE);
  };
  return repeat(EVERY_SECONDS, sweep, (error) =>
    deps.log.warn({ err: error }, 'expired admissions were not removed'),
  );
}
