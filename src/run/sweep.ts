/** Deletes rows that are no longer shown, and erases addresses that are too old, in batches. */

import { deleteOldKeyUses } from '../access/keys/last-uses.sql.ts';
import { deleteOldLinks } from '../access/logins/login-links.sql.ts';
import { deleteOldAttempts } from '../access/oidc/login-attempts.sql.ts';
import {
  deleteOldOperatorLinks,
  deleteOldOperatorSessions,
} from '../access/operators/operator-sessions.sql.ts';
import { deleteOldChallenges } from '../access/passkeys/challenges.sql.ts';
import { deleteOldKeptForms } from '../access/sessions/kept-forms.sql.ts';
import { deleteOldSessions } from '../access/sessions/sessions.sql.ts';
import { eraseOldAddresses } from '../base/audit/audit-entries.sql.ts';
import type { Pool } from '../base/db/pool.ts';
import type { BaseDeps } from '../base/deps.ts';
import { deleteOldKeys } from '../base/idempotency/idempotency-keys.sql.ts';
import { KEPT_HOURS } from '../base/idempotency/once.ts';
import { deleteEndedWindows } from '../base/limits/rate-limits.sql.ts';
import { deleteGone } from '../base/processes/processes.sql.ts';
import { liftEndedBans } from '../control/bans/bans.sql.ts';
import {
  deleteOldParticipants,
  PARTICIPANT_DAYS,
  sweepEndedRooms,
} from '../control/rooms/old-participants.sql.ts';
import { deleteOldEvents } from '../events/events.sql.ts';
import { deleteOldMails } from '../outward/mail/mails.sql.ts';
import { deleteOldDeliveries } from '../outward/webhooks/deliveries.sql.ts';

/** Small, because it locks rooms of participants. */
const AT_ONCE = 1_000;

/** What the operator sets: days. */
export interface KeptFor {
  /** Events, and attempts to deliver them. */
  readonly eventDays: number;
  readonly mailDays: number;
  /** Addresses of clients in the audit trail. Its entries stay. */
  readonly auditAddressDays: number;
}

/** Each removes up to `limit` rows and returns the count. A count of `limit` means that there may be more. */
export const REMOVALS: Readonly<Record<string, (db: Pool, limit: number, kept: KeptFor) => Promise<number>>> =
  {
    participants: (db, limit) => deleteOldParticipants(db, { keepDays: PARTICIPANT_DAYS, limit }),
    'participants of ended rooms': (db, limit) => sweepEndedRooms(db, { keepDays: PARTICIPANT_DAYS, limit }),
    events: (db, limit, { eventDays: days }) => deleteOldEvents(db, { days, limit }),
    mails: (db, limit, { mailDays: days }) => deleteOldMails(db, { days, limit }),
    'idempotency keys': (db, limit) => deleteOldKeys(db, { hours: KEPT_HOURS, limit }),
    'addresses of the audit trail': (db, limit, { auditAddressDays: days }) =>
      eraseOldAddresses(db, { days, limit }),
    bans: liftEndedBans,
    'uses of keys': deleteOldKeyUses,
    'webhook deliveries': (db, limit, { eventDays: days }) => deleteOldDeliveries(db, { days, limit }),
    'sessions of the console': deleteOldSessions,
    'kept forms': deleteOldKeptForms,
    'links to log in': deleteOldLinks,
    'challenges of passkeys': deleteOldChallenges,
    'unfinished log-ins': deleteOldAttempts,
    'sessions of operators': deleteOldOperatorSessions,
    'links of operators': deleteOldOperatorLinks,
    'rate limits': deleteEndedWindows,
    'processes that are gone': deleteGone,
  };

/** A failed removal is retried next time, and does not stop the others. */
export async function sweep({
  db,
  log,
  config,
}: Pick<BaseDeps, 'db' | 'log'> & { readonly config: KeptFor }): Promise<void> {
  for (const [what, remove] of Object.entries(REMOVALS)) {
    try {
      while ((await remove(db, AT_ONCE, config)) >= AT_ONCE);
    } catch (error) {
      log.warn({ err: error }, `old ${what} were not removed`);
    }
  }
}
