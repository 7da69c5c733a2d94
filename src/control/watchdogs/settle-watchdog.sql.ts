/** SQL of a look at a watchdog, which fires once even if several processes look. Uses database time. */
import type { Tx } from '../../base/db/pool.ts';
import { eventsWaitFor } from '../../events/turns.sql.ts';
import { PRESENT } from '../rooms/participants.sql.ts';
import { ADMITTED_EVENTS, CONDITIONS, NOT_FIRED_FOR, OF_ROOM } from './conditions.ts';
import type { DueWatchdog } from './due-watchdogs.sql.ts';
import type { Watchdog, WatchdogState } from './watchdog.ts';
import { LISTENER_NAME } from './watchdog-listener.ts';
import { columnsWith, DUE_AT, DURATION, deadlineOf, WAITS, WARN_BEFORE, WITH_ROOM } from './watchdogs.sql.ts';

/**
 * Lock the participants that a watchdog is about to act on.
 * Every transaction locks participants before watchdogs.
 */
export async function lockTargets(tx: Tx, { tenant, id, roomUid }: DueWatchdog): Promise<void> {
  await tx.query({
    name: 'lock-targets-of-watchdog',
    text: `select from participants where tenant_id = $1 and room_uid = $3 and left_at is null
              and exists (select from ${WITH_ROOM} where w.tenant_id = $1 and w.id = $2
                             and w.action <> 'notify' and ${DUE_AT} <= now())
            order by username for update`,
    values: [tenant, id, roomUid],
  });
}

const LONGEST_SINCE = CONDITIONS.participant_max_duration.since;

/**
 * When to look again at a waiting watchdog. The first sighting of a host brings the deadline of
 * `host_absent_for` forward without an event, but never to less than its duration after the sighting.
 */
const NEXT_LOOK = `case when w.condition = 'host_absent_for'
    then least(j.due_at - j.warn_before, now() + greatest(${DURATION} - j.warn_before, interval '1 second'))
    else j.due_at - j.warn_before end`;

/**
 * When it is due after a look, which only changes that by firing for some users. Planning all of `DUE_AT`
 * twice takes too long.
 */
const nextDueAt = (newest: string) => `case when ${WAITS}
    then case when ${newest} is null then j.due_at else ${LONGEST_SINCE} + ${DURATION} end end`;

/** An event that has not reached the listener may say that the tenant was admitted meanwhile. */
const IS_BEHIND = `condition = 'unadmitted_for'
  and ${eventsWaitFor(LISTENER_NAME, '$1', ADMITTED_EVENTS)}`;

/** The result of a look at a watchdog. */
export interface Look {
  /**
   * `ended`: the room has ended. `over`: it can never fire any more. `idle`: its condition does not hold.
   * `wait`: it holds, but not for long enough. `behind`: events that may change it have not reached the
   * listener.
   */
  readonly verdict: 'ended' | 'over' | 'idle' | 'wait' | 'behind' | 'warn' | 'fire';
  readonly stateBefore: WatchdogState;
  /** The watchdog after the look. */
  readonly watchdog: Watchdog;
  /** The users it fires for; `null`: all in the room. */
  readonly usernames: readonly string[] | null;
  /** For a watchdog that fires: how late it is. */
  readonly lateSeconds: number;
}

/** What the look finds: the verdict, in `judged`, and the users that it fires for, in `targets`. */
const LOOKED = `
  with seen as materialized (
    select w.*, ${DUE_AT} as due_at, ${WARN_BEFORE} as warn_before, r.state as room_state,
           -- If it has not warned yet, it warns now, however late that is.
           case when w.warn_before_ms > 0 then coalesce(w.warned_at, statement_timestamp()) end as warning_at
      from ${WITH_ROOM} where w.tenant_id = $1 and w.id = $2 and w.state in ('armed', 'warned')
  ), timed as (
    select *, greatest(due_at, warning_at + warn_before) as fires_at from seen
  ), judged as (
    select *, case when room_state = 'ENDED' then 'ended'
                   when condition = 'unused_for' and due_at is null then 'over'
                   when due_at is null then 'idle'
                   when fires_at <= now() then case when ${IS_BEHIND} then 'behind' else 'fire' end
                   when due_at - warn_before <= now() then 'warn'
                   else 'wait' end as verdict
      from timed
  ), targets as (
    select array_agg(p.username order by p.username) as usernames, max(p.entered_at) as newest
      from judged w join participants p on ${OF_ROOM}
     where w.verdict = 'fire' and w.condition = 'participant_max_duration'
       and ${PRESENT} and ${NOT_FIRED_FOR} and p.entered_at + ${DURATION} <= now()
  )`;

/** What a look changes: columns, and their values after it. */
const CHANGES: readonly (readonly [column: string, value: string])[] = [
  [
    'state',
    `case when j.verdict = 'behind' then w.state
          when j.verdict in ('over', 'ended') then 'disarmed'
          when j.verdict = 'warn' then 'warned'
          when j.verdict = 'fire' and t.newest is null then 'fired'
          else 'armed' end`,
  ],
  [
    'check_at',
    `case when j.verdict = 'behind' then now() + interval '100 milliseconds'
          when j.verdict = 'wait' then ${NEXT_LOOK}
          when j.verdict = 'warn' then j.fires_at
          when j.verdict = 'fire' and t.newest is not null then now() end`,
  ],
  [
    'held_since',
    `case when w.condition = 'unadmitted_for' and j.due_at is not null then j.due_at - ${DURATION} end`,
  ],
  [
    'warned_at',
    `case when j.verdict = 'behind' then w.warned_at when j.verdict = 'warn' then j.warning_at end`,
  ],
  ['looked_at', 'now()'],
  ['fired_for', 'coalesce(t.newest, w.fired_for)'],
  ['fired_at', `case when j.verdict = 'fire' then statement_timestamp() else w.fired_at end`],
];

/** What changes is columns first: where tables are distributed, `update` takes no expressions over a `with`. */
const SETTLE = `${LOOKED}, settled as (
    select w.id, j.verdict, j.state as state_before, j.due_at, j.fires_at, j.warn_before, t.usernames, t.newest,
           ${CHANGES.map(([column, value]) => `${value} as ${column}`).join(', ')}
      from judged j, targets t, watchdogs w
     where w.tenant_id = $1 and w.id = $2
  ), changed as (
    update watchdogs w
       set ${CHANGES.map(([column]) => `${column} = s.${column}`).join(', ')}
      from settled s where w.tenant_id = $1 and w.id = $2 and s.id = w.id
    returning w.*
  )
  select ${columnsWith(deadlineOf(nextDueAt('j.newest')))}, j.verdict, j.state_before as "stateBefore", j.usernames,
         extract(epoch from clock_timestamp() - j.fires_at)::double precision as "lateSeconds"
    from changed w, settled j, rooms r
   where r.tenant_id = $1 and r.uid = w.room_uid`;

/**
 * Look at a waiting watchdog, and store the result and when to look again; `undefined` if it no longer waits.
 * The room and the row must be locked by an earlier statement: a statement that waits for a lock sees all
 * other rows as they were before the wait.
 */
export async function settleWatchdog(
  tx: Tx,
  { tenant, id }: Pick<DueWatchdog, 'tenant' | 'id'>,
): Promise<Look | undefined> {
  const { rows } = await tx.query<Watchdog & Omit<Look, 'watchdog'>>({
    name: 'settle-watchdog',
    text: SETTLE,
    values: [tenant, id],
  });
  const row = rows[0];
  if (!row) return undefined;
  const { verdict, stateBefore, usernames, lateSeconds, ...watchdog } = row;
  return { verdict, stateBefore, usernames, lateSeconds, watchdog };
}
