/** Deletes rows that are no longer shown, some at a time. */
import type { Pool } from '../base/db/pool.ts';
import type { BaseDeps } from '../base/deps.ts';
import { deleteOldKeys } from '../base/idempotency/idempotency-keys.sql.ts';
import { KEPT_HOURS } from '../base/idempotency/once.ts';
import { liftEndedBans } from '../control/moderation/bans.sql.ts';
import {
  deleteExpiredAdmissions,
  deleteOldParticipants,
  sweepEndedRooms,
} from '../control/rooms/old-participants.sql.ts';
import { EVENT_DAYS } from '../events/event.ts';
import { deleteOldEvents } from '../events/events.sql.ts';

/** Few, because rooms of participants are locked meanwhile. */
const AT_ONCE = 1_000;

/** Whoever has left a room is shown for a week, and the devices of participants for a day. */
const PARTICIPANT_DAYS = 7;
const ADMISSION_HOURS = 24;

/** Each removes up to `limit`, and returns how many there were; there may be more until these are fewer. */
const REMOVALS: Readonly<Record<string, (db: Pool, limit: number) => Promise<number>>> = {
  participants: (db, limit) => deleteOldParticipants(db, { keepDays: PARTICIPANT_DAYS, limit }),
  'participants of ended rooms': (db, limit) => sweepEndedRooms(db, { keepDays: PARTICIPANT_DAYS, limit }),
  admissions: (db, limit) => deleteExpiredAdmissions(db, { keepHours: ADMISSION_HOURS, limit }),
  events: (db, limit) => deleteOldEvents(db, { days: EVENT_DAYS, limit }),
  'idempotency keys': (db, limit) => deleteOldKeys(db, { hours: KEPT_HOURS, limit }),
  bans: liftEndedBans,
};

/** What cannot be removed now is there the next time, and keeps nothing else from being removed. */
export async function sweep({ db, log }: Pick<BaseDeps, 'db' | 'log'>): Promise<void> {
  for (const [what, remove] of Object.entries(REMOVALS)) {
    try {
      while ((await remove(db, AT_ONCE)) >= AT_ONCE);
    } catch (error) {
      log.warn({ err: error }, `old ${what} were not removed`);
    }
  }
}
