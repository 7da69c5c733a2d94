/**
 * The conditions of watchdogs: one entry each.
 *
 * An entry says in SQL since when its condition holds, computed from the rows as they are, and which events
 * may change that. In the SQL, `w` is the row of `watchdogs`, `r` the row of `rooms`, and `$1` the tenant of both.
 */
import { PRESENT } from '../rooms/participants.sql.ts';
import type { WatchdogAction, WatchdogCondition } from './watchdog.ts';

export interface Condition {
  /**
   * Since when the condition holds, or from when it will hold if nothing but token expiry happens; null while
   * it does not hold.
   */
  readonly since: string;
  /** Types of events after which the watchdog must look again. `room_ended` counts for all. */
  readonly events: readonly string[];
  /** Actions that make no sense with it. */
  readonly forbidden: readonly WatchdogAction[];
}

/** Whether `participants p` is of the room. */
export const OF_ROOM = 'p.tenant_id = $1 and p.room_uid = w.room_uid';
/** When the presence of a participant ends, or ended. */
const PRESENT_UNTIL = 'coalesce(p.left_at, p.expires_at)';

/** Whether `participant_max_duration` has not fired for `participants p`. */
export const NOT_FIRED_FOR = '(w.fired_for is null or p.entered_at > w.fired_for)';

/**
 * Participants who have not left the room, and the `count` others who left it last. A long-lived room has far
 * more who left earlier, and they do not matter.
 */
const latest = (count: number, which = 'true') => `(
    select p.* from participants p where ${OF_ROOM} and p.left_at is null and ${which}
     union all
    (select p.* from participants p where ${OF_ROOM} and p.left_at is not null and ${which}
      order by p.left_at desc limit ${count}))`;

/** The host who left last may not be the one who was seen last, but one of these is. */
const HOSTS_MAX = 100;

const ENTRIES_AND_LEAVES = ['participant_entered', 'participant_left'];

/** Events that change whether a tenant is admitted. */
export const ADMITTED_EVENTS = ['credit_spent', 'credit_restored', 'tenant_status_changed'];

export const CONDITIONS: Readonly<Record<WatchdogCondition, Condition>> = {
  max_duration: {
    since: 'r.created_at',
    events: [],
    forbidden: [],
  },
  unused_for: {
    since: `(select r.created_at
        where r.last_left_at is null and not exists (select from participants p where ${OF_ROOM}))`,
    events: ['participant_entered'],
    forbidden: ['kick', 'revoke_publish'],
  },
  empty_for: {
    // The room's row keeps the time of participants that were deleted.
    since: `greatest(r.last_left_at, (select max(${PRESENT_UNTIL}) from ${latest(1)} p))`,
    events: ENTRIES_AND_LEAVES,
    forbidden: ['kick', 'revoke_publish'],
  },
  host_absent_for: {
    // A host is present until last seen. Usage records are more precise than tokens, which outlive a
    // connection by minutes.
    since: `coalesce(greatest(r.last_host_at,
      (select max(case when p.last_seen_at is null then ${PRESENT_UNTIL}
                  else least(${PRESENT_UNTIL}, greatest(p.entered_at, p.last_seen_at,
                         (select max(a.admitted_at) from admissions a
                           where a.tenant_id = $1 and a.room_uid = p.room_uid
                             and a.username = p.username))) end)
         from ${latest(HOSTS_MAX, `p.role = 'host'`)} p)), r.created_at)`,
    events: [...ENTRIES_AND_LEAVES, 'participant_updated'],
    forbidden: [],
  },
  alone_for: {
    // The participant who stays longest is alone once the next one leaves.
    since: `(select case when present then greatest(entered_at, next_until, r.last_left_at) end
         from (select p.entered_at, ${PRESENT} as present,
                      lead(${PRESENT_UNTIL}) over (order by ${PRESENT_UNTIL} desc, p.username) as next_until
                 from ${latest(1)} p
                order by ${PRESENT_UNTIL} desc, p.username limit 1) as longest)`,
    events: ENTRIES_AND_LEAVES,
    forbidden: [],
  },
  participant_max_duration: {
    since: `(select min(p.entered_at) from participants p where ${OF_ROOM} and ${PRESENT} and ${NOT_FIRED_FOR})`,
    events: ENTRIES_AND_LEAVES,
    // One user who stays too long is no reason to end the room for all.
    forbidden: ['end_room'],
  },
  unadmitted_for: {
    // The listener notes the time of the event in `held_since`. A watchdog may be created later than that.
    since: `(select coalesce(w.held_since, case when w.looked_at is null then w.created_at end, now())
         from tenants t join accounts a on a.tenant_id = $1
        where t.id = $1 and not (t.status = 'active' and (t.exempt or a.balance > 0)))`,
    events: ADMITTED_EVENTS,
    forbidden: [],
  },
};

/** Since when the condition of `watchdogs w` in `rooms r` holds. */
export const SINCE = `case w.condition ${Object.entries(CONDITIONS)
  .map(([condition, { since }]) => `when '${condition}' then ${since}`)
  .join('\n    ')} end`;
