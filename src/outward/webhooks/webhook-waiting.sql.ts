/**
 * SQL of `webhook_waiting`: events that were put aside.
 *
 * Each change of these rows locks the row of the cursor first. So the cursor's `aside_at` is never later than the first
 * event that is due, whichever of a turn, a late request of an earlier turn, and the tenant comes first.
 */
import { filtered } from '../../base/db/filtered.ts';
import type { Statement } from '../../base/db/pipeline.ts';
import type { Db, Tx } from '../../base/db/pool.ts';
import type { LoggedEvent } from '../../events/event.ts';
import type { ClaimedWebhook, WebhookName } from './claimed-webhook.ts';
import { deliveriesValues, IS_DEAD, logDeliveries } from './deliveries.sql.ts';
import type { NewDelivery } from './delivery.ts';
import type { Rest } from './delivery-turn.ts';
import { RETRY_SCHEDULE } from './retry-schedule.ts';
import { type Pauser, WAITING_MAX } from './webhook.ts';

/** An event to put aside. */
export interface Aside {
  readonly seq: bigint;
  /** Empty: of none. */
  readonly room: string;
  readonly failures: number;
  /** Until the next attempt; `null`: it waits for the one before it in its room. */
  readonly waitSeconds: number | null;
}

/** Puts events aside that `moved` has moved the cursor past. `asideValues()` begin at `$first`. */
export function putAside(first: number): string {
  const lists = ['bigint', 'text', 'integer', 'double precision'].map(
    (type, at) => `$${first + at}::${type}[]`,
  );
  // A row that is there already says how often the event has failed.
  return `insert into webhook_waiting as q (tenant_id, webhook_id, seq, room_uid, failures, failed_at, retry_at)
          select $1, $2, a.seq, a.room_uid, a.failures, case when a.failures > 0 then t.now end,
                 t.now + make_interval(secs => a.wait)
            from moved, (select now() as now) as t, unnest(${lists.join(', ')}) as a (seq, room_uid, failures, wait)
          on conflict (tenant_id, webhook_id, seq) do nothing`;
}

export function asideValues(put: readonly Aside[]): unknown[] {
  return [
    put.map(({ seq }) => seq),
    put.map(({ room }) => room),
    put.map(({ failures }) => failures),
    put.map(({ waitSeconds }) => waitSeconds),
  ];
}

/** An event that was put aside. */
export interface WaitingEvent {
  readonly seq: bigint;
  readonly room: string;
  readonly failures: number;
  /** `null`: it is not kept any more. */
  readonly event: LoggedEvent | null;
}

interface WaitingRow extends Omit<WaitingEvent, 'event'>, Omit<LoggedEvent, 'at'> {
  readonly at: Date | null;
}

const WAITING = `q.seq, q.room_uid as room, q.failures, e.at, e.type, e.room_uid as "roomUid", e.subject
             from webhook_waiting q left join events e on e.tenant_id = q.tenant_id and e.seq = q.seq`;

function waitingEvent({ room, failures, at, seq, type, roomUid, subject }: WaitingRow): WaitingEvent {
  return { seq, room, failures, event: at && { seq, at, type, roomUid, subject } };
}

/** Up to `limit` that are due, without those that are under way. Oldest first. */
export async function findDueWaiting(
  db: Db,
  { tenant, id }: WebhookName,
  { underWay, limit }: { readonly underWay: readonly bigint[]; readonly limit: number },
): Promise<WaitingEvent[]> {
  const { rows } = await db.query<WaitingRow>({
    name: 'find-due-waiting-events',
    text: `select ${WAITING}
            where q.tenant_id = $1 and q.webhook_id = $2 and q.retry_at <= now() and q.seq <> all($3::bigint[])
            order by q.seq limit $4`,
    values: [tenant, id, underWay, limit],
  });
  return rows.map(waitingEvent);
}

/** The oldest, due or not. */
export async function findOldestWaiting(
  db: Db,
  { tenant, id }: WebhookName,
): Promise<WaitingEvent | undefined> {
  const { rows } = await db.query<WaitingRow>({
    name: 'find-oldest-waiting-event',
    text: `select ${WAITING} where q.tenant_id = $1 and q.webhook_id = $2 order by q.seq limit 1`,
    values: [tenant, id],
  });
  return rows[0] && waitingEvent(rows[0]);
}

export interface Waiting {
  readonly count: number;
  readonly rooms: readonly string[];
}

/** How many are put aside, and their rooms. */
export async function findWaiting(db: Db, { tenant, id }: WebhookName): Promise<Waiting> {
  const { rows } = await db.query<Waiting>({
    name: 'find-waiting-events',
    text: `select count(*)::integer as count, coalesce(array_agg(distinct room_uid), '{}') as rooms
             from webhook_waiting where tenant_id = $1 and webhook_id = $2`,
    values: [tenant, id],
  });
  return rows[0]!;
}

/** Before `webhook_waiting` is changed. */
export function lockCursor({ tenant, id }: WebhookName): Statement {
  return {
    name: 'lock-webhook-cursor',
    text: 'select from webhook_cursors where tenant_id = $1 and webhook_id = $2 for update',
    values: [tenant, id],
  };
}

/** What became of attempts to deliver events that were put aside. */
export interface AsideOutcomes {
  /** These are not put aside any more: they were delivered, or are not to be sent. */
  readonly ended: readonly bigint[];
  readonly failed: readonly AsideFailure[];
  readonly deliveries: readonly NewDelivery[];
  /** How many of those that ended are deleted events. The next delivery tells of them. */
  readonly skipped: bigint;
  /** One of them was delivered. */
  readonly hasDelivered: boolean;
  /** Failures of the webhook in a row, and its standing. */
  readonly failures: number;
  readonly standing: number;
  readonly leaseSeconds: number;
}

export const NO_OUTCOMES = {
  ended: [],
  failed: [],
  deliveries: [],
  skipped: 0n,
  hasDelivered: false,
} as const satisfies Partial<AsideOutcomes>;

export interface AsideFailure {
  readonly seq: bigint;
  /** Before this attempt. Another attempt that was noted meanwhile counts, and this one does not. */
  readonly failures: number;
  readonly waitSeconds: number;
  /** Its request is still under way: nothing has failed. */
  readonly isUnderWay: boolean;
}

export interface NotedAside {
  /** The lease holds, and the tenant has not changed the webhook. */
  readonly isSame: boolean;
  /** Rooms of which nothing is put aside any more. */
  readonly free: readonly string[];
}

/** Note outcomes, and log them. The next event of a room becomes due when the one before has ended. The cursor must be locked. */
export async function noteAside(
  tx: Tx,
  { tenant, id, lease, version }: ClaimedWebhook,
  outcomes: AsideOutcomes,
): Promise<NotedAside> {
  const { ended, failed, deliveries, skipped, hasDelivered, failures, standing, leaseSeconds } = outcomes;
  const { rows } = await tx.query<{ isSame: boolean; room: string | null }>({
    name: 'note-aside-deliveries',
    text: `with ended as (
             delete from webhook_waiting q
              where q.tenant_id = $1 and q.webhook_id = $2 and q.seq = any($3::bigint[])
             returning q.seq, q.room_uid
           ), following as (
             select d.room_uid, (select min(n.seq) from webhook_waiting n
                                  where n.tenant_id = $1 and n.webhook_id = $2 and n.room_uid = d.room_uid
                                    and n.seq > d.seq) as seq
               from ended d
           ), freed as (
             update webhook_waiting q set retry_at = now() from following f
              where q.tenant_id = $1 and q.webhook_id = $2 and q.seq = f.seq and q.retry_at is null
           ), missed as materialized (
             select a.seq, a.failures, a.more, now() + make_interval(secs => a.wait) as retry_at,
                    case when a.more > 0 then now() end as failed_at
               from unnest($4::bigint[], $5::integer[], $6::integer[], $7::double precision[])
                      as a (seq, failures, more, wait)
           ), failed as (
             update webhook_waiting q
                set failures = q.failures + m.more, retry_at = m.retry_at, failed_at = coalesce(q.failed_at, m.failed_at)
               from missed m
              where q.tenant_id = $1 and q.webhook_id = $2 and q.seq = m.seq and q.failures = m.failures
           ), noted as (
             update webhook_cursors c
                set failures = $8, standing = $9, skipped = c.skipped + $15, delivered_at = coalesce(t.delivered_at, c.delivered_at),
                    aside_at = least(c.aside_at, t.aside_at),
                    leased_until = case when c.lease = $10 then t.leased_until else c.leased_until end
               from (select case when $11 then now() end as delivered_at,
                            now() + make_interval(secs => $12) as leased_until,
                            now() + make_interval(secs => $13) as aside_at) as t, webhook_endpoints w
              where c.tenant_id = $1 and c.webhook_id = $2 and w.tenant_id = $1 and w.id = $2
             returning c.paused_by is null and c.lease is not distinct from $10 and w.version = $14 as "isSame"
           ), logged as (${logDeliveries(16)})
           select n."isSame", f.room_uid as room from noted n left join following f on f.seq is null`,
    values: [
      tenant,
      id,
      ended,
      failed.map(({ seq }) => seq),
      failed.map((each) => each.failures),
      failed.map(({ isUnderWay }) => (isUnderWay ? 0 : 1)),
      failed.map(({ waitSeconds }) => waitSeconds),
      failures,
      standing,
      lease,
      hasDelivered,
      leaseSeconds,
      // One that is freed is due at once.
      ended.length > 0 ? 0 : Math.min(leaseSeconds, ...failed.map(({ waitSeconds }) => waitSeconds)),
      version,
      skipped,
      ...deliveriesValues(deliveries),
    ],
  });
  return { isSame: rows[0]?.isSame ?? false, free: rows.flatMap(({ room }) => room ?? []) };
}

/**
 * Lock the cursor to give up on an event that was put aside. Returns whether the tenant has not changed the webhook, and
 * whether it has accepted another event since this one failed first.
 */
export async function lockToGiveUp(
  tx: Tx,
  { tenant, id, version }: ClaimedWebhook,
  seq: bigint,
): Promise<{ readonly isSame: boolean; readonly hasDelivered: boolean } | undefined> {
  const { rows } = await tx.query<{ isSame: boolean; hasDelivered: boolean }>({
    name: 'lock-webhook-to-give-up',
    text: `select w.version = $4 and c.paused_by is null as "isSame",
                  coalesce(c.delivered_at > q.failed_at, false) as "hasDelivered"
             from webhook_cursors c
             join webhook_endpoints w on w.tenant_id = c.tenant_id and w.id = c.webhook_id
             left join webhook_waiting q on q.tenant_id = c.tenant_id and q.webhook_id = c.webhook_id and q.seq = $3
            where c.tenant_id = $1 and c.webhook_id = $2 and w.tenant_id = $1
              for update of c`,
    values: [tenant, id, seq, version],
  });
  return rows[0];
}

/** The service pauses the webhook. The cursor must be locked. */
export async function pauseLocked(
  tx: Tx,
  { tenant, id }: WebhookName,
  pausedBy: Exclude<Pauser, 'tenant'>,
): Promise<void> {
  await tx.query({
    name: 'pause-locked-webhook',
    text: `update webhook_cursors set paused_by = $3, paused_at = now(), retry_at = null
            where tenant_id = $1 and webhook_id = $2`,
    values: [tenant, id, pausedBy],
  });
}

/** In each room, only the first is due. */
export function arrangeRooms({ tenant, id }: WebhookName): Statement {
  return {
    name: 'arrange-waiting-by-room',
    text: `update webhook_waiting q set retry_at = case when r.place = 1 then r.now end
             from (select seq, row_number() over (partition by room_uid order by seq) as place, now() as now
                     from webhook_waiting where tenant_id = $1 and webhook_id = $2) as r
            where q.tenant_id = $1 and q.webhook_id = $2 and q.seq = r.seq and (q.retry_at is null) = (r.place = 1)`,
    values: [tenant, id],
  };
}

/** None waits for another one. */
export function arrangeAlone({ tenant, id }: WebhookName): Statement {
  return {
    name: 'arrange-waiting',
    text: `update webhook_waiting set retry_at = now()
            where tenant_id = $1 and webhook_id = $2 and retry_at is null`,
    values: [tenant, id],
  };
}

/** Let those be due that the order says, whatever order they were put aside in. In one transaction. */
export function arrangeWaiting(webhook: ClaimedWebhook): readonly Statement[] {
  return [lockCursor(webhook), webhook.order === 'room' ? arrangeRooms(webhook) : arrangeAlone(webhook)];
}

/** End a turn that may have put events aside. In one transaction. */
export function releaseWaiting(webhook: ClaimedWebhook, rest: Rest | undefined): readonly Statement[] {
  const { tenant, id, lease } = webhook;
  const seconds = typeof rest === 'object' ? rest.restSeconds : null;
  return [
    ...arrangeWaiting(webhook),
    {
      name: 'release-webhook-with-waiting',
      text: `update webhook_cursors c
                set lease = null, leased_until = now(), aside_at = n.aside_at,
                    retry_at = case when c.paused_by is null then n.retry_at end
               from (select t.aside_at, case when $5 then t.aside_at else t.rest_until end as retry_at
                       from (select min(retry_at) as aside_at, now() + make_interval(secs => $4) as rest_until
                               from webhook_waiting where tenant_id = $1 and webhook_id = $2) as t) as n
              where c.tenant_id = $1 and c.webhook_id = $2 and c.lease = $3`,
      values: [tenant, id, lease, seconds, rest === 'until due'],
    },
  ];
}

/**
 * All that are put aside are due at once, as far as the order lets them. `withinSeconds`: only those that are due so soon. The
 * cursor must be locked.
 */
export async function hurryWaiting(
  tx: Tx,
  { tenant, id }: WebhookName,
  withinSeconds: number | null = null,
): Promise<void> {
  const { name, where, values } = filtered('hurry-waiting-events', [tenant, id], {
    soon: withinSeconds !== null && ['retry_at <= now() + make_interval(secs => ?)', withinSeconds],
  });
  await tx.query({
    name,
    text: `update webhook_waiting set retry_at = now()
            where tenant_id = $1 and webhook_id = $2 and retry_at > now()${where}`,
    values,
  });
}

/**
 * None of those that are put aside is at its last attempt any more. Otherwise one that is always refused would pause the webhook again
 * before any other is sent. The cursor must be locked.
 */
export async function allowRetries(tx: Tx, { tenant, id }: WebhookName): Promise<void> {
  await tx.query({
    name: 'allow-retries',
    text: `update webhook_waiting set failures = $3 where tenant_id = $1 and webhook_id = $2 and failures > $3`,
    values: [tenant, id, RETRY_SCHEDULE.waitSeconds.length - 1],
  });
}

/**
 * Those that have failed are due at once, and the attempt that this is counts for nothing: who asks again and again takes no attempt
 * from an event. The cursor must be locked.
 */
export async function hurryFailed(tx: Tx, { tenant, id }: WebhookName): Promise<void> {
  await tx.query({
    name: 'hurry-failed-events',
    text: `update webhook_waiting set retry_at = now(), failures = greatest(failures - 1, 0)
            where tenant_id = $1 and webhook_id = $2 and failed_at is not null and retry_at > now()`,
    values: [tenant, id],
  });
}

/** Returns whether the event was put aside. The cursor must be locked. */
export async function endWaiting(tx: Tx, { tenant, id }: WebhookName, seq: bigint): Promise<boolean> {
  const { rowCount } = await tx.query({
    name: 'end-waiting-event',
    text: 'delete from webhook_waiting where tenant_id = $1 and webhook_id = $2 and seq = $3',
    values: [tenant, id, seq],
  });
  return rowCount === 1;
}

/** How many more events of the webhook may be put aside. */
export async function countFreeWaiting(tx: Tx, { tenant, id }: WebhookName): Promise<number> {
  const { rows } = await tx.query<{ count: number; isPending: boolean }>({
    name: 'count-free-waiting',
    text: `select t.status = 'pending' as "isPending",
                  (select count(*)::integer from webhook_waiting where tenant_id = $1 and webhook_id = $2) as count
             from tenants t where t.id = $1`,
    values: [tenant, id],
  });
  const { count, isPending } = rows[0]!;
  return Math.max(0, WAITING_MAX[isPending ? 'pending' : 'paid'] - count);
}

/**
 * Put dead letters aside, which are due at once: those that were given up at or after `since` and whose events are kept,
 * `limit` at most, the oldest first. Returns how many. The cursor must be locked.
 */
export async function putDeadAside(
  tx: Tx,
  { tenant, id }: WebhookName,
  { since, limit }: { readonly since: Date; readonly limit: number },
): Promise<number> {
  const { rows } = await tx.query<{ count: number }>({
    name: 'put-dead-letters-aside',
    text: `with found as (
             select d.seq, e.room_uid
               from webhook_deliveries d join events e on e.tenant_id = d.tenant_id and e.seq = d.seq
              where d.tenant_id = $1 and d.webhook_id = $2 and ${IS_DEAD} and d.at >= $3
              order by d.seq limit $4
           ), ended as (
             update webhook_deliveries d set sent_again_at = now() from found
              where d.tenant_id = $1 and d.webhook_id = $2 and d.seq = found.seq and ${IS_DEAD}
           ), put as (
             insert into webhook_waiting as q (tenant_id, webhook_id, seq, room_uid, retry_at)
             select $1, $2, seq, coalesce(room_uid, ''), t.now from found, (select now() as now) as t
             on conflict (tenant_id, webhook_id, seq) do nothing
           )
           select count(*)::integer as count from found`,
    values: [tenant, id, since, limit],
  });
  return rows[0]!.count;
}

/** Those after the event `seq` come again in the order of the log. */
export async function forgetWaitingAfter(tx: Tx, { tenant, id }: WebhookName, seq: bigint): Promise<void> {
  await tx.query({
    name: 'forget-waiting-events',
    text: 'delete from webhook_waiting where tenant_id = $1 and webhook_id = $2 and seq > $3',
    values: [tenant, id, seq],
  });
}
