/** SQL of `watchdogs`. Time is the database's. */
import type { Db, Tx } from '../../base/db/pool.ts';
import { newId } from '../../base/lib/ids.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import type { Watchdog, WatchdogPosition, WatchdogRule, WatchdogState } from './watchdog.ts';

/** Of `participants p`: those of the room of `watchdogs w`. */
const OF_ROOM = 'p.tenant_id = w.tenant_id and p.room_uid = w.room_uid';
const PRESENT = 'p.left_at is null and p.expires_at > now()';
/** Until when somebody is present, or was. */
const PRESENT_UNTIL = 'coalesce(p.left_at, p.expires_at)';

/** Whom `participant_max_duration` has not fired for. */
const NOT_FIRED_FOR = '(w.fired_for is null or p.entered_at > w.fired_for)';

/**
 * Of `participants p`: those who have not left the room of `watchdogs w`, and as many of the others as left
 * it last. A room that never ends has far more who left it earlier, and they change nothing.
 */
const latest = (count: number, which = 'true') => `(
    select p.* from participants p where ${OF_ROOM} and p.left_at is null and ${which}
     union all
    (select p.* from participants p where ${OF_ROOM} and p.left_at is not null and ${which}
      order by p.left_at desc limit ${count}))`;

/** Who left last need not be who was seen last, but one of these is. */
const HOSTS_MAX = 100;

const DURATION = `w.duration_ms * interval '1 millisecond'`;

/** Since when somebody is there of whom `participant_max_duration` has yet to tell. */
const LONGEST_SINCE = `(select min(p.entered_at) from participants p
  where ${OF_ROOM} and ${PRESENT} and ${NOT_FIRED_FOR})`;

/**
 * Since when the condition of `watchdogs w` in `rooms r` holds, or from when it will if nothing more
 * happens than that tokens lapse.
 *
 * A host is there until the newest sign of him: relays that report usage tell better than tokens,
 * which outlive whoever closes his laptop. Whoever stays longest is alone from when the next one goes.
 * That there is no credit is first seen, at the latest, at the look for which it was due. Of those who are
 * forgotten, the row of the room tells when they had last been there.
 */
const SINCE = `case w.condition
    when 'max_duration' then r.created_at
    when 'unused_for' then
      (select r.created_at
        where r.last_left_at is null and not exists (select from participants p where ${OF_ROOM}))
    when 'empty_for' then greatest(r.last_left_at, (select max(${PRESENT_UNTIL}) from ${latest(1)} p))
    when 'host_absent_for' then coalesce(greatest(r.last_host_at,
      (select max(case when p.last_seen_at is null then ${PRESENT_UNTIL}
                  else least(${PRESENT_UNTIL}, greatest(p.entered_at, p.last_seen_at,
                         (select max(a.admitted_at) from admissions a
                           where a.tenant_id = p.tenant_id and a.room_uid = p.room_uid
                             and a.username = p.username))) end)
         from ${latest(HOSTS_MAX, `p.role = 'host'`)} p)), r.created_at)
    when 'alone_for' then
      (select case when present then greatest(entered_at, next_until, r.last_left_at) end
         from (select p.entered_at, ${PRESENT} as present,
                      lead(${PRESENT_UNTIL}) over (order by ${PRESENT_UNTIL} desc, p.username) as next_until
                 from ${latest(1)} p
                order by ${PRESENT_UNTIL} desc, p.username limit 1) as longest)
    when 'participant_max_duration' then ${LONGEST_SINCE}
    when 'unadmitted_for' then
      (select coalesce(w.held_since, w.check_at)
         from tenants t join accounts a on a.tenant_id = t.id
        where t.id = w.tenant_id and not (t.status = 'active' and (t.exempt or a.balance > 0)))
  end`;

/** When `watchdogs w` will fire, as things stand. */
const DEADLINE = `case when w.state in ('armed', 'warned') then ${SINCE} + ${DURATION} end`;

const columnsWith = (deadline: string) => `w.id, r.name as room, w.room_uid as "roomUid", w.condition,
  w.duration_ms::double precision as "durationMs", w.action,
  w.warn_before_ms::double precision as "warnBeforeMs", w.state, ${deadline} as deadline,
  w.fired_at as "firedAt", w.created_at as "createdAt"`;

/** The columns of a `Watchdog`, of `watchdogs w` and `rooms r`. */
const WATCHDOG = columnsWith(DEADLINE);

const WITH_ROOM = 'watchdogs w join rooms r on r.tenant_id = w.tenant_id and r.uid = w.room_uid';

/** Arm a watchdog; `undefined` while one with this condition waits. It is looked at right away. */
export async function insertWatchdog(
  tx: Tx,
  tenant: TenantId,
  roomUid: string,
  rule: WatchdogRule,
): Promise<Watchdog | undefined> {
  const id = newId('wd');
  const { rowCount } = await tx.query(
    `insert into watchdogs (tenant_id, id, room_uid, condition, duration_ms, action, warn_before_ms)
     values ($1, $2, $3, $4, $5, $6, $7) on conflict do nothing`,
    [tenant, id, roomUid, rule.condition, rule.durationMs, rule.action, rule.warnBeforeMs],
  );
  return rowCount === 1 ? findWatchdog(tx, tenant, id) : undefined;
}

export async function findWatchdog(db: Db, tenant: TenantId, id: string): Promise<Watchdog | undefined> {
  const { rows } = await db.query<Watchdog>(
    `select ${WATCHDOG} from ${WITH_ROOM} where w.tenant_id = $1 and w.id = $2`,
    [tenant, id],
  );
  return rows[0];
}

/** Watchdogs of a room, or of all, the newest first. */
export async function selectWatchdogs(
  db: Db,
  tenant: TenantId,
  options: { roomUid: string | undefined; after: WatchdogPosition | undefined; limit: number },
): Promise<(Watchdog & { createdMicros: string })[]> {
  const { rows } = await db.query<Watchdog & { createdMicros: string }>(
    `select ${WATCHDOG}, (extract(epoch from w.created_at) * 1000000)::bigint::text as "createdMicros"
       from ${WITH_ROOM}
      where w.tenant_id = $1 and ($2::text is null or w.room_uid = $2)
        and ($3::text is null
             or (w.created_at, w.id) < ('epoch'::timestamptz + $3::bigint * interval '1 microsecond', $4::text))
      order by w.created_at desc, w.id desc limit $5`,
    [tenant, options.roomUid, options.after?.createdMicros, options.after?.id, options.limit],
  );
  return rows;
}

/** Watchdogs that wait, by id, after one of them; with `room`, only those of the room of this name. */
export async function selectWaitingWatchdogs(
  db: Db,
  tenant: TenantId,
  options: { readonly room: string | undefined; readonly after: string | undefined; readonly limit: number },
): Promise<Watchdog[]> {
  const { rows } = await db.query<Watchdog>(
    `select ${WATCHDOG} from ${WITH_ROOM}
      where w.tenant_id = $1 and w.state in ('armed', 'warned')
        and ($2::text is null or r.name = $2) and ($3::text is null or w.id > $3)
      order by w.id limit $4`,
    [tenant, options.room, options.after, options.limit],
  );
  return rows;
}

/** Arm a watchdog anew. */
export async function rearmWatchdog(
  tx: Tx,
  tenant: TenantId,
  id: string,
  rule: WatchdogRule,
): Promise<Watchdog> {
  await tx.query(
    `update watchdogs set duration_ms = $3, action = $4, warn_before_ms = $5, state = 'armed', check_at = now()
      where tenant_id = $1 and id = $2`,
    [tenant, id, rule.durationMs, rule.action, rule.warnBeforeMs],
  );
  return (await findWatchdog(tx, tenant, id))!;
}

export async function removeWatchdog(tx: Tx, tenant: TenantId, id: string): Promise<void> {
  await tx.query('delete from watchdogs where tenant_id = $1 and id = $2', [tenant, id]);
}

/** None of a room's watchdogs can fire any more. */
export async function disarmWatchdogs(tx: Tx, tenant: TenantId, roomUid: string): Promise<void> {
  await tx.query(
    `with waiting as (
       select id from watchdogs
        where tenant_id = $1 and room_uid = $2 and state in ('armed', 'warned')
        order by id for no key update
     )
     update watchdogs set state = 'disarmed', check_at = null
      where tenant_id = $1 and id in (select id from waiting)`,
    [tenant, roomUid],
  );
}

/**
 * When to look at a watchdog that something happened to: at once, and yet not again and again, each time
 * under the lock of the room, while many come in. What it waits for anyway is not put off.
 */
export const WAKE_AT = `greatest(now(), looked_at + interval '100 milliseconds')`;
/** Whether a watchdog would be looked at later than that, or not at all. */
export const ASLEEP = `(check_at is null or check_at > ${WAKE_AT})`;

/**
 * Something happened to the room: its watchdogs look at it again, within a second. Those that are about to
 * do so anyway are left alone; the others are locked in one order, so that no two who wake them wait for
 * each other.
 */
export async function wakeWatchdogs(db: Db, tenant: TenantId, roomUid: string): Promise<void> {
  await db.query(
    `with asleep as (
       select id from watchdogs
        where tenant_id = $1 and room_uid = $2 and state in ('armed', 'warned')
          and ${ASLEEP}
        order by id for no key update
     )
     update watchdogs set check_at = ${WAKE_AT} where tenant_id = $1 and id in (select id from asleep)`,
    [tenant, roomUid],
  );
}

/** Until the transaction ends, what decides whether the tenant is admitted stays as it is. */
export async function lockAdmission(tx: Tx, tenant: TenantId): Promise<void> {
  await tx.query('select from accounts where tenant_id = $1 for share', [tenant]);
  await tx.query('select from tenants where id = $1 for share', [tenant]);
}

/**
 * Tenants are admitted that were not, or the reverse: whatever waits for that looks again, and counts from
 * this very moment.
 *
 * The caller has locked accounts or tenants, which nobody asks for who has a watchdog locked; and they are
 * locked room by room, in the order of all who wake some. So it may wait for a look, but never in a circle.
 * It must not pass over one that is locked: whoever has it may have seen the tenant as it was before.
 */
export async function wakeUnadmittedWatchdogs(tx: Tx, tenants: readonly TenantId[]): Promise<void> {
  await tx.query(
    `with waiting as (
       select tenant_id, id from watchdogs
        where tenant_id = any($1) and condition = 'unadmitted_for' and state in ('armed', 'warned')
        order by tenant_id, room_uid, id for no key update
     )
     update watchdogs set check_at = now() where (tenant_id, id) in (select tenant_id, id from waiting)`,
    [tenants],
  );
}

/** A watchdog that somebody has to look at. */
export interface DueWatchdog {
  readonly tenant: TenantId;
  readonly id: string;
  readonly roomUid: string;
}

/**
 * Claim some of the watchdogs that are to be looked at. Whoever claims one and does not get to it
 * leaves it to the others, `leaseSeconds` later.
 */
export async function claimDueWatchdogs(
  db: Db,
  { limit, leaseSeconds }: { readonly limit: number; readonly leaseSeconds: number },
): Promise<DueWatchdog[]> {
  const { rows } = await db.query<DueWatchdog>({
    name: 'claim-due-watchdogs',
    text: `with due as (
             select tenant_id, id from watchdogs where check_at <= now()
              order by check_at limit $1 for update skip locked
           )
           update watchdogs w
              set check_at = now() + make_interval(secs => $2), looked_at = now(),
                  held_since = case when w.condition = 'unadmitted_for'
                                    then coalesce(w.held_since, w.check_at) end
             from due d where w.tenant_id = d.tenant_id and w.id = d.id
           returning w.tenant_id as tenant, w.id, w.room_uid as "roomUid"`,
    values: [limit, leaseSeconds],
  });
  return rows;
}

/** Milliseconds until the next watchdog is to be looked at, negative when that is over; `null`: none is. */
export async function findMsToNextCheck(db: Db): Promise<number | null> {
  const { rows } = await db.query<{ ms: number | null }>({
    name: 'find-ms-to-next-check',
    text: `select extract(epoch from min(check_at) - clock_timestamp())::double precision * 1000 as ms
             from watchdogs where check_at is not null`,
  });
  return rows[0]!.ms;
}

/** Lock whoever a watchdog is about to act on: participants are locked before watchdogs, by everybody. */
export async function lockTargets(tx: Tx, { tenant, id, roomUid }: DueWatchdog): Promise<void> {
  await tx.query({
    name: 'lock-targets-of-watchdog',
    text: `select from participants where tenant_id = $1 and room_uid = $3 and left_at is null
              and exists (select from ${WITH_ROOM} where w.tenant_id = $1 and w.id = $2
                             and w.action <> 'notify' and ${DEADLINE} <= now())
            order by username for update`,
    values: [tenant, id, roomUid],
  });
}

export async function lockWatchdog(
  tx: Tx,
  { tenant, id }: Pick<DueWatchdog, 'tenant' | 'id'>,
): Promise<void> {
  await tx.query({
    name: 'lock-watchdog',
    text: 'select from watchdogs where tenant_id = $1 and id = $2 for no key update',
    values: [tenant, id],
  });
}

/** All that wait in a room, as one that fires may wake or disarm the others: in the order of whoever wakes them. */
export async function lockWaitingWatchdogs(
  tx: Tx,
  { tenant, roomUid }: Pick<DueWatchdog, 'tenant' | 'roomUid'>,
): Promise<void> {
  await tx.query({
    name: 'lock-waiting-watchdogs',
    text: `select from watchdogs where tenant_id = $1 and room_uid = $2 and state in ('armed', 'warned')
            order by id for no key update`,
    values: [tenant, roomUid],
  });
}

/**
 * When to look again at a watchdog that waits. Nobody wakes it when a host is seen for the first time,
 * which brings its deadline forward, though never to less than its duration after that.
 */
const NEXT_LOOK = `case when w.condition = 'host_absent_for'
    then least(j.deadline - j.warn_before, now() + greatest(${DURATION} - j.warn_before, interval '1 second'))
    else j.deadline - j.warn_before end`;

/** The deadline after a look, which moves it only by firing for some: to plan all of `DEADLINE` twice takes too long. */
const NEXT_DEADLINE = `case when w.state in ('armed', 'warned')
    then case when t.newest is null then j.deadline else ${LONGEST_SINCE} + ${DURATION} end end`;

/** What a look at a watchdog came to. */
export interface Look {
  /** `over`: it can never fire any more. `idle`: its condition does not hold. `wait`: it does. */
  readonly verdict: 'over' | 'idle' | 'wait' | 'warn' | 'fire';
  readonly stateBefore: WatchdogState;
  /** As it is from now on. */
  readonly watchdog: Watchdog;
  /** Whom it has fired for; `null`: everybody in the room. */
  readonly usernames: readonly string[] | null;
  /** Of a watchdog that fires: how long ago it should have. */
  readonly lateSeconds: number;
}

/**
 * Look at a watchdog that waits, and note what that comes to and when to look again; `undefined` when
 * it does not wait any more. Its room is locked, and so is its row, by an earlier statement: one that
 * has to wait for the row sees everything else as it was before the wait.
 */
export async function settleWatchdog(
  tx: Tx,
  { tenant, id }: Pick<DueWatchdog, 'tenant' | 'id'>,
): Promise<Look | undefined> {
  const { rows } = await tx.query<Watchdog & Omit<Look, 'watchdog'>>({
    name: 'settle-watchdog',
    text: `with seen as materialized (
             select w.*, ${DEADLINE} as deadline, w.warn_before_ms * interval '1 millisecond' as warn_before,
                    r.state as room_state
               from ${WITH_ROOM} where w.tenant_id = $1 and w.id = $2 and w.state in ('armed', 'warned')
           ), judged as (
             select *, case when room_state = 'ENDED' or condition = 'unused_for' and deadline is null then 'over'
                            when deadline is null then 'idle'
                            when deadline <= now() then 'fire'
                            when deadline - warn_before <= now() then 'warn'
                            else 'wait' end as verdict
               from seen
           ), targets as (
             select array_agg(p.username order by p.username) as usernames, max(p.entered_at) as newest
               from judged w join participants p on ${OF_ROOM}
              where w.verdict = 'fire' and w.condition = 'participant_max_duration'
                and ${PRESENT} and ${NOT_FIRED_FOR} and p.entered_at + ${DURATION} <= now()
           )
           update watchdogs w
              set state = case when j.verdict = 'over' then 'disarmed'
                               when j.verdict = 'warn' then 'warned'
                               when j.verdict = 'fire' and t.newest is null then 'fired'
                               else 'armed' end,
                  check_at = case when j.verdict = 'wait' then ${NEXT_LOOK}
                                  when j.verdict = 'warn' then j.deadline
                                  when j.verdict = 'fire' and t.newest is not null then now() end,
                  held_since = case when j.deadline is not null then w.held_since end,
                  fired_for = coalesce(t.newest, w.fired_for),
                  fired_at = case when j.verdict = 'fire' then clock_timestamp() else w.fired_at end
             from judged j, targets t, rooms r
            where w.tenant_id = $1 and w.id = $2 and r.tenant_id = w.tenant_id and r.uid = w.room_uid
           returning ${columnsWith(NEXT_DEADLINE)}, j.verdict, j.state as "stateBefore", t.usernames,
                     extract(epoch from clock_timestamp() - j.deadline)::double precision as "lateSeconds"`,
    values: [tenant, id],
  });
  const row = rows[0];
  if (!row) return undefined;
  const { verdict, stateBefore, usernames, lateSeconds, ...watchdog } = row;
  return { verdict, stateBefore, usernames, lateSeconds, watchdog };
}
