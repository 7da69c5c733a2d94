/**
 * Forgets participants a week after their room has ended, with their admissions; and other admissions
 * a day after their last token expired: by then nobody asks who was there.
 */
import type { Deps } from '../deps.ts';
import { type Repeating, repeat } from '../lib/repeat.ts';
import { deleteExpiredAdmissions, deleteOldParticipants } from './participants.sql.ts';

const EVERY_SECONDS = 300;
const KEEP_DAYS = 7;
const KEEP_HOURS = 24;
const AT_ONCE = 5_000;

export function startAdmissionsSweep(deps: Deps): Repeating {
  const sweep = async () => {
    while ((await deleteOldParticipants(deps.db, { keepDays: KEEP_DAYS, limit: AT_ONCE })) === AT_ONCE);
    while ((await deleteExpiredAdmissions(deps.db, { keepHours: KEEP_HOURS, limit: AT_ONCE })) === AT_ONCE);
  };
  return repeat(EVERY_SECONDS, sweep, (error) =>
    deps.log.warn({ err: error }, 'old participants and admissions were not removed'),
  );
}
