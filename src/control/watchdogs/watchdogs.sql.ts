/** SQL of `watchdogs`: what calls read and write. Uses database time. */
import { filtered } from '../../base/db/filtered.ts';
import type { Db, Tx } from '../../base/db/pool.ts';
import { newId } from '../../base/lib/ids.ts';
import { countUpTo } from '../../base/tenants/places.sql.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import { SINCE } from './conditions.ts';
import type { Watchdog, WatchdogPosition, WatchdogRule } from './watchdog.ts';

export const DURATION = `w.duration_ms * interval '1 millisecond'`;
export const WARN_BEFORE = `w.warn_before_ms * interval '1 millisecond'`;

/** Whether `watchdogs w` can still fire. No watchdog of a room that has ended can, whatever its row says. */
export const WAITS = `(w.state in ('armed', 'warned') and r.state = 'LIVE')`;
const STATE = `case when w.state in ('armed', 'warned') and r.state <> 'LIVE' then 'disarmed' else w.state end`;

/**
 * When the condition of `watchdogs w` has held for long enough, if nothing but token expiry happens until
 * then. It may not hold yet.
 */
export const DUE_AT = `case when ${WAITS} then ${SINCE} + ${DURATION} end`;

/** `watchdogs w` does not fire before its warning is as old as this; null without a warning. */
const WARNED_UNTIL = `case when w.warn_before_ms > 0 then coalesce(w.warned_at, now()) + ${WARN_BEFORE} end`;

/** The deadline of `watchdogs w`, which is due at `dueAt`; null while its condition does not hold. */
export const deadlineOf = (dueAt: string) => `(select greatest(due_at, ${WARNED_UNTIL})
    -- The offset keeps PostgreSQL from computing it several times.
    from (select ${dueAt} as due_at offset 0) as due where due_at - ${DURATION} <= now())`;

/** The columns of a `Watchdog`, of `watchdogs w` and `rooms r`. */
export const columnsWith = (deadline: string) => `w.id, r.name as room, w.room_uid as "roomUid", w.condition,
  w.duration_ms::double precision as "durationMs", w.action,
  w.warn_before_ms::double precision as "warnBeforeMs", ${STATE} as state, ${deadline} as deadline,
  w.fired_at as "firedAt", w.created_at as "createdAt"`;

const WATCHDOG = columnsWith(deadlineOf(DUE_AT));

export const WITH_ROOM = 'watchdogs w join rooms r on r.tenant_id = w.tenant_id and r.uid = w.room_uid';

/** Arm a watchdog, due for a look at once; `undefined` while one with this condition waits. */
export async function insertWatchdog(
  tx: Tx,
  tenant: TenantId,
  roomUid: string,
  rule: WatchdogRule,
): Promise<Watchdog | undefined> {
  const id = newId('wd');
  const { rowCount } = await tx.query({
    name: 'insert-watchdog',
    text: `insert into watchdogs (tenant_id, id, room_uid, condition, duration_ms, action, warn_before_ms)
           values ($1, $2, $3, $4, $5, $6, $7) on conflict do nothing`,
    values: [tenant, id, roomUid, rule.condition, rule.durationMs, rule.action, rule.warnBeforeMs],
  });
  return rowCount === 1 ? findWatchdog(tx, tenant, id) : undefined;
}

/**
 * How many watchdogs wait, of one room or of all, up to `most`. Each room is looked up by its key: without
 * statistics, the planner may join thousands of watchdogs and rooms by comparing each with each.
 */
export async function countWaiting(
  tx: Tx,
  tenant: TenantId,
  { roomUid, most }: { readonly roomUid?: string; readonly most: number },
): Promise<number> {
  const { name, where, values } = filtered('count-waiting', [tenant], {
    room: roomUid && ['w.room_uid = ?', roomUid],
  });
  return countUpTo(
    tx,
    name,
    most,
    `select from watchdogs w
      where w.tenant_id = $1 and w.state in ('armed', 'warned') ${where}
        and (select state from rooms r where r.tenant_id = $1 and r.uid = w.room_uid) = 'LIVE'`,
    values,
  );
}

export async function findWatchdog(db: Db, tenant: TenantId, id: string): Promise<Watchdog | undefined> {
  const { rows } = await db.query<Watchdog>({
    name: 'find-watchdog',
    text: `select ${WATCHDOG} from ${WITH_ROOM} where w.tenant_id = $1 and w.id = $2`,
    values: [tenant, id],
  });
  return rows[0];
}

/** Watchdogs of a room, or of all, the newest first. */
export async function findWatchdogs(
  db: Db,
  tenant: TenantId,
  options: { roomUid: string | undefined; after: WatchdogPosition | undefined; limit: number },
): Promise<(Watchdog & { createdMicros: string })[]> {
  const { roomUid, after, limit } = options;
  const { name, where, values } = filtered('find-watchdogs', [tenant, limit], {
    room: roomUid && ['w.room_uid = ?', roomUid],
    after: after && [
      `(w.created_at, w.id) < ('epoch'::timestamptz + ?::bigint * interval '1 microsecond', ?)`,
      after.createdMicros,
      after.id,
    ],
  });
  const { rows } = await db.query<Watchdog & { createdMicros: string }>({
    name,
    text: `select ${WATCHDOG}, (extract(epoch from w.created_at) * 1000000)::bigint::text as "createdMicros"
             from ${WITH_ROOM}
            where w.tenant_id = $1 ${where}
            order by w.created_at desc, w.id desc limit $2`,
    values,
  });
  return rows;
}

/** Waiting watchdogs by id, after `after`; with `room`, only those of the room of this name. */
export async function listWaitingWatchdogs(
  db: Db,
  tenant: TenantId,
  options: { readonly room: string | undefined; readonly after: string | undefined; readonly limit: number },
): Promise<Watchdog[]> {
  const { room, after, limit } = options;
  const { name, where, values } = filtered('list-waiting-watchdogs', [tenant, limit], {
    room: room && ['r.name = ?', room],
    after: after && ['w.id > ?', after],
  });
  const { rows } = await db.query<Watchdog>({
    name,
    text: `select ${WATCHDOG} from ${WITH_ROOM}
            where w.tenant_id = $1 and ${WAITS} ${where}
            order by w.id limit $2`,
    values,
  });
  return rows;
}

/** Arm a watchdog again, with a new rule. */
export async function rearmWatchdog(
  tx: Tx,
  tenant: TenantId,
  id: string,
  rule: WatchdogRule,
): Promise<Watchdog> {
  await tx.query({
    name: 'rearm-watchdog',
    text: `update watchdogs set duration_ms = $3, action = $4, warn_before_ms = $5, state = 'armed',
                  check_at = now(), warned_at = null
            where tenant_id = $1 and id = $2`,
    values: [tenant, id, rule.durationMs, rule.action, rule.warnBeforeMs],
  });
  return (await findWatchdog(tx, tenant, id))!;
}

export async function removeWatchdog(tx: Tx, tenant: TenantId, id: string): Promise<void> {
  await tx.query({
    name: 'remove-watchdog',
    text: 'delete from watchdogs where tenant_id = $1 and id = $2',
    values: [tenant, id],
  });
}

export async function lockWatchdog(
  tx: Tx,
  { tenant, id }: { readonly tenant: TenantId; readonly id: string },
): Promise<void> {
  await tx.query({
    name: 'lock-watchdog',
    text: 'select from watchdogs where tenant_id = $1 and id = $2 for no key update',
    values: [tenant, id],
  });
}
