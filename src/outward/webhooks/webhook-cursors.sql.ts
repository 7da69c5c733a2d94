/** SQL of `webhook_cursors`: how far webhooks are, and which process delivers to them. */
import { isDistributed } from '../../base/db/distribution.ts';
import { runTogether } from '../../base/db/pipeline.ts';
import type { Db, Tx } from '../../base/db/pool.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import type { ClaimedWebhook, WebhookName } from './claimed-webhook.ts';
import { deliveriesValues, endDeadLettersAfter, logDeliveries } from './deliveries.sql.ts';
import type { NewDelivery } from './delivery.ts';
import { FAST_STANDING, type Lane, laneOf } from './delivery-lane.ts';
import type { Pauser } from './webhook.ts';
import {
  type Aside,
  allowRetries,
  asideValues,
  forgetWaitingAfter,
  hurryWaiting,
  lockCursor,
  putAside,
} from './webhook-waiting.sql.ts';
import { SETTINGS } from './webhooks.sql.ts';

/** The condition that events may wait for a webhook, and that no process delivers them. `gone`: a parameter, the processes that are. */
const isDue = (gone: string) => `c.paused_by is null and (c.retry_at is null or c.retry_at <= now())
            and (c.leased_until is null or c.leased_until <= now() or c.leased_by = any(${gone}))`;

/**
 * An event that was put aside is due. Or the process that delivered last is gone, or has lost its lease: one may have been under
 * way that is put aside meanwhile.
 */
const hasDue = (gone: string) => `(c.aside_at <= now()
                     or (c.aside_at is not null and (c.lease is not null or c.leased_by = any(${gone}))))`;

/** Like `laneOf()`. */
const IS_FAST = `c.standing >= case t.status when 'pending' then ${FAST_STANDING.pending} else ${FAST_STANDING.paid} end`;

/** New webhooks begin after the event `seq`. */
export async function insertCursor(tx: Tx, { tenant, id }: WebhookName, seq: bigint): Promise<void> {
  await tx.query({
    name: 'insert-webhook-cursor',
    text: 'insert into webhook_cursors (tenant_id, webhook_id, seq) values ($1, $2, $3)',
    values: [tenant, id, seq],
  });
}

/** The tenants that have webhooks which are not paused. */
export async function findTenantsWithWebhooks(db: Db): Promise<TenantId[]> {
  const { rows } = await db.query<{ tenant: TenantId }>({
    name: 'find-tenants-with-webhooks',
    text: 'select distinct tenant_id as tenant from webhook_cursors where paused_by is null',
    values: [],
  });
  return rows.map(({ tenant }) => tenant);
}

/** A webhook for which events wait. */
export interface DueWebhook extends WebhookName {
  readonly lane: Lane;
  /** The last attempt failed. */
  readonly isFailing: boolean;
}

/**
 * Webhooks of these tenants for which events wait: up to `limit` of each lane, those that do not fail first, then one
 * of each tenant, then the longest unserved. Those of deleted tenants get nothing.
 */
export async function findDueWebhooks(
  db: Db,
  tenants: readonly TenantId[],
  { limit, gone }: { readonly limit: number; readonly gone: readonly string[] },
): Promise<DueWebhook[]> {
  const { rows } = await db.query<WebhookName & { isPending: boolean; standing: number; isFailing: boolean }>(
    {
      name: 'find-due-webhooks',
      text: `with due as materialized (
             select c.tenant_id, c.webhook_id, c.standing, c.failures > 0 as is_failing, c.leased_until,
                    t.status = 'pending' as is_pending, ${IS_FAST} as is_fast,
                    row_number() over (partition by c.tenant_id, ${IS_FAST} order by c.leased_until nulls first) as nth
               from webhook_cursors c
               join event_streams s on s.tenant_id = c.tenant_id
               join tenants t on t.id = c.tenant_id
              where c.tenant_id = any($1) and (c.seq < s.last_seq or ${hasDue('$3')}) and ${isDue('$3')}
                and t.status <> 'deleted'
           ), placed as (
             select due.*, row_number() over (partition by is_pending, is_fast
                                              order by is_failing, nth, leased_until nulls first) as place
               from due
           )
           select tenant_id as tenant, webhook_id as id, is_pending as "isPending", standing,
                  is_failing as "isFailing"
             from placed where place <= $2 order by place`,
      values: [tenants, limit, gone],
    },
  );
  return rows.map(({ tenant, id, isFailing, ...facts }) => ({ tenant, id, isFailing, lane: laneOf(facts) }));
}

/** What a process takes a lease with. */
export interface Claim {
  readonly lease: string;
  readonly leaseSeconds: number;
  /** The process. */
  readonly holder: string;
  /** Processes whose leases are free. */
  readonly gone: readonly string[];
}

/** Take the lease of a webhook; `undefined` if another process was faster, or nothing is due any more. */
export async function claimWebhook(
  db: Db,
  { tenant, id }: WebhookName,
  { lease, leaseSeconds, holder, gone }: Claim,
): Promise<ClaimedWebhook | undefined> {
  const { rows } = await db.query<ClaimedWebhook>({
    name: 'claim-webhook',
    text: `update webhook_cursors c set lease = $3, leased_until = now() + make_interval(secs => $4), leased_by = $5
             from webhook_endpoints w, tenants t,
                  (select leased_until, lease is not null or coalesce(leased_by = any($6), false) as was_cut
                     from webhook_cursors where tenant_id = $1 and webhook_id = $2) as before
            where c.tenant_id = $1 and c.webhook_id = $2 and w.tenant_id = $1 and w.id = $2 and t.id = $1
              and ${isDue('$6')}
           returning c.tenant_id as tenant, c.webhook_id as id, c.lease, w.version, ${SETTINGS},
                     w.sealed_headers as "sealedHeaders", c.seq, c.skipped,
                     c.failures, c.standing, t.status = 'pending' as "isPending",
                     c.aside_at is not null as "hasWaiting", c.delivered_at is not null as "hasAccepted",
                     before.was_cut as "wasCut",
                     extract(epoch from c.leased_until - before.leased_until)::double precision - $4 as "idleSeconds"`,
    values: [tenant, id, lease, leaseSeconds, holder, gone],
  });
  return rows[0];
}

/** End a turn that has put nothing aside. `restSeconds`: nothing is sent before; `undefined`: as it was. */
export async function releaseWebhook(
  db: Db,
  { tenant, id, lease }: ClaimedWebhook,
  restSeconds?: number,
): Promise<void> {
  await db.query({
    name: 'release-webhook',
    text: `update webhook_cursors c
              set lease = null, leased_until = now(),
                  retry_at = case when c.paused_by is null then coalesce(t.retry_at, c.retry_at) end
             from (select now() + make_interval(secs => $4) as retry_at) as t
            where c.tenant_id = $1 and c.webhook_id = $2 and c.lease = $3`,
    values: [tenant, id, lease, restSeconds ?? null],
  });
}

export interface Move {
  readonly from: bigint;
  readonly to: bigint;
  /** How `skipped` changes. */
  readonly skipped: bigint;
  readonly leaseSeconds: number;
  readonly standing: number;
}

/**
 * Move the place of a webhook, and renew its lease. Returns whether the turn may go on: false if the lease or the place
 * has changed, which moves nothing, or if the tenant has changed the webhook.
 */
export async function moveWebhook(db: Db, webhook: ClaimedWebhook, move: Move): Promise<boolean> {
  const { rows } = await db.query<{ isSame: boolean }>({
    name: 'move-webhook',
    text: `${moveTo('c.delivered_at')} returning c.paused_by is null and w.version = $8 as "isSame"`,
    values: moveValues(webhook, move),
  });
  return rows[0]?.isSame ?? false;
}

/** Like `moveWebhook()`, after a request, whose deliveries are logged in any case. */
export async function finishDelivery(
  db: Db,
  webhook: ClaimedWebhook,
  move: Move,
  deliveries: readonly NewDelivery[],
): Promise<boolean> {
  const { rows } = await db.query<{ isSame: boolean }>({
    name: 'finish-webhook-delivery',
    text: `with moved as (${moveTo('now()')} returning c.paused_by is null and w.version = $8 as "isSame"),
                logged as (${logDeliveries(10)})
           select "isSame" from moved`,
    values: [...moveValues(webhook, move), ...deliveriesValues(deliveries)],
  });
  return rows[0]?.isSame ?? false;
}

function moveTo(deliveredAt: string): string {
  return `update webhook_cursors c
             set seq = $5, skipped = c.skipped + $6, failures = 0, retry_at = null,
                 leased_until = now() + make_interval(secs => $7), standing = $9, delivered_at = ${deliveredAt}
            from webhook_endpoints w
           where c.tenant_id = $1 and c.webhook_id = $2 and c.lease = $3 and c.seq = $4
             and w.tenant_id = $1 and w.id = $2`;
}

/** What has become of events that were sent side by side. */
export interface Note extends Move {
  /** Those that the cursor moves past, and that were not delivered. */
  readonly put: readonly Aside[];
  readonly deliveries: readonly NewDelivery[];
  /** One of them was delivered. */
  readonly hasDelivered: boolean;
  /** Failures of the webhook in a row. */
  readonly failures: number;
}

/** Like `moveWebhook()`, after deliveries side by side, which are logged in any case. */
export async function noteDeliveries(db: Db, webhook: ClaimedWebhook, note: Note): Promise<boolean> {
  const { put, deliveries, hasDelivered, failures, leaseSeconds } = note;
  const waits = put.map(({ waitSeconds }) => waitSeconds ?? leaseSeconds);
  const { rows } = await db.query<{ isSame: boolean }>({
    name: 'note-webhook-deliveries',
    text: `with moved as (
             update webhook_cursors c
                set seq = $5, skipped = c.skipped + $6, failures = $10, leased_until = t.leased_until, standing = $9,
                    delivered_at = coalesce(t.delivered_at, c.delivered_at), aside_at = least(c.aside_at, t.aside_at)
               from webhook_endpoints w,
                    (select now() + make_interval(secs => $7) as leased_until,
                            case when $11 then now() end as delivered_at,
                            now() + make_interval(secs => $12) as aside_at) as t
              where c.tenant_id = $1 and c.webhook_id = $2 and c.lease = $3 and c.seq = $4
                and w.tenant_id = $1 and w.id = $2
             returning c.paused_by is null and w.version = $8 as "isSame"
           ), put as (${putAside(13)}), logged as (${logDeliveries(17)})
           select "isSame" from moved`,
    values: [
      ...moveValues(webhook, note),
      failures,
      hasDelivered,
      waits.length > 0 ? Math.min(...waits) : null,
      ...asideValues(put),
      ...deliveriesValues(deliveries),
    ],
  });
  return rows[0]?.isSame ?? false;
}

function moveValues({ tenant, id, lease, version }: ClaimedWebhook, move: Move): unknown[] {
  return [tenant, id, lease, move.from, move.to, move.skipped, move.leaseSeconds, version, move.standing];
}

export interface Failing {
  readonly seq: bigint;
  /** `undefined`: it is paused. */
  readonly waitSeconds: number | undefined;
  readonly pausedBy: Exclude<Pauser, 'tenant'>;
  readonly standing: number;
}

/**
 * After a failed request: log its deliveries, note the standing, give the lease back, and put the next attempt off or pause the
 * webhook, unless the tenant has changed it meanwhile. Returns whether it is paused by this.
 */
export async function failDelivery(
  tx: Tx,
  { tenant, id, lease, version }: ClaimedWebhook,
  { seq, waitSeconds, pausedBy, standing }: Failing,
  deliveries: readonly NewDelivery[],
): Promise<boolean> {
  // By a statement of its own: a statement that waits for the cursor still sees the settings of before its wait.
  await runTogether(tx, [lockCursor({ tenant, id })]);
  const { rows } = await tx.query<{ isPaused: boolean }>({
    name: 'fail-webhook-delivery',
    text: `with seen as (
             select c.tenant_id, c.webhook_id,
                    c.seq = $4 and w.version = $5 and c.paused_by is null as is_same,
                    now() as now, now() + make_interval(secs => $6) as retry_at
               from webhook_cursors c
               join webhook_endpoints w on w.tenant_id = c.tenant_id and w.id = c.webhook_id
              where c.tenant_id = $1 and c.webhook_id = $2 and w.tenant_id = $1 and c.lease = $3
                for update of c
           ), failed as (
             update webhook_cursors c
                set lease = null, leased_until = seen.now, standing = $8,
                    failures = c.failures + case when is_same then 1 else 0 end,
                    retry_at = case when is_same then seen.retry_at else c.retry_at end,
                    paused_by = case when is_same then $7 else c.paused_by end,
                    paused_at = case when is_same and $7::text is not null then seen.now else c.paused_at end
               from seen
              where c.tenant_id = $1 and c.webhook_id = seen.webhook_id
             returning is_same and $7::text is not null as "isPaused"
           ), logged as (${logDeliveries(9)})
           select "isPaused" from failed`,
    values: [
      tenant,
      id,
      lease,
      seq,
      version,
      waitSeconds ?? null,
      waitSeconds === undefined ? pausedBy : null,
      standing,
      ...deliveriesValues(deliveries),
    ],
  });
  return rows[0]?.isPaused ?? false;
}

/** Pause a webhook for the tenant. It changes nothing if the webhook is paused already. */
export async function pauseWebhook(tx: Tx, { tenant, id }: WebhookName): Promise<void> {
  await tx.query({
    name: 'pause-webhook',
    text: `update webhook_cursors set paused_by = 'tenant', paused_at = now(), retry_at = null
            where tenant_id = $1 and webhook_id = $2 and paused_by is null`,
    values: [tenant, id],
  });
}

/** Let it go on at once. What it has failed counts on: only a delivery clears that. */
export async function resumeWebhook(tx: Tx, { tenant, id }: WebhookName): Promise<void> {
  await tx.query({
    name: 'resume-webhook',
    text: `update webhook_cursors c
              set paused_by = null, paused_at = null, retry_at = null, aside_at = least(c.aside_at, t.aside_at)
             from (select case when exists (select 1 from webhook_waiting where tenant_id = $1 and webhook_id = $2)
                               then now() end as aside_at) as t
            where c.tenant_id = $1 and c.webhook_id = $2`,
    values: [tenant, id],
  });
  await allowRetries(tx, { tenant, id });
  await hurryWaiting(tx, { tenant, id });
}

/** Let it try again at once, unless it is paused. What is put aside is read anew. */
export async function hurryWebhook(tx: Tx, { tenant, id }: WebhookName): Promise<void> {
  await tx.query({
    name: 'hurry-webhook',
    text: `with changed as (
             update webhook_endpoints set version = version + 1 where tenant_id = $1 and id = $2
           )
           update webhook_cursors c set retry_at = null, aside_at = n.aside_at
             from (select min(retry_at) as aside_at from webhook_waiting where tenant_id = $1 and webhook_id = $2) as n
            where c.tenant_id = $1 and c.webhook_id = $2`,
    values: [tenant, id],
  });
}

/** Move the place back to before the first event that is kept and happened at or after `since`, unless it is before. */
export async function moveBack(tx: Tx, { tenant, id }: WebhookName, since: Date): Promise<void> {
  const { rows } = await tx.query<{ seq: bigint }>({
    name: 'move-webhook-back',
    text: `update webhook_cursors c
              set seq = least(c.seq, coalesce((select min(seq) - 1 from events where tenant_id = $1 and at >= $3), c.seq)),
                  skipped = 0, retry_at = null
            where c.tenant_id = $1 and c.webhook_id = $2 returning c.seq`,
    values: [tenant, id, since],
  });
  await forgetWaitingAfter(tx, { tenant, id }, rows[0]!.seq);
  await endDeadLettersAfter(tx, tenant, id, rows[0]!.seq);
}

export interface WebhookCounts {
  readonly paused: number;
  readonly lagSeconds: number;
}

/** How many webhooks the service has paused, and the age of the oldest event that waits for one that is not. */
export async function measureCursors(db: Db): Promise<WebhookCounts> {
  const { rows } = await db.query<WebhookCounts>({
    name: 'measure-webhooks',
    text: `select (count(*) filter (where c.paused_by <> 'tenant'))::integer as paused,
                  coalesce(max(extract(epoch from clock_timestamp() - e.at)) filter (where c.paused_by is null), 0)
                    ::double precision as "lagSeconds"
             from webhook_cursors c
             join tenants t on t.id = c.tenant_id and t.status <> 'deleted'
             left join events e on e.tenant_id = c.tenant_id and e.seq = c.seq + 1`,
    values: [],
  });
  return rows[0]!;
}

export interface WebhookHealth {
  /** Those that the service has paused, and those of the last hour among them. */
  readonly paused: number;
  readonly newlyPaused: number;
  /** Age of the oldest event that waits for a webhook whose last delivery did not fail, among a sample of about a thousand. */
  readonly waitingSeconds: number;
}

/** So many webhooks tell whether deliveries run. */
const SAMPLE_WEBHOOKS = 1_000;

/** SQL of pages of `webhook_cursors` with about so many; of fewer ones, and of a table that was never analyzed, all. */
const SAMPLE = `tablesample system (least(100, 100.0 * ${SAMPLE_WEBHOOKS} /
               greatest((select reltuples from pg_class where oid = 'webhook_cursors'::regclass), 1)))`;

/** For operators. */
export async function findWebhookHealth(db: Db): Promise<WebhookHealth> {
  const { rows: stopped } = await db.query<Pick<WebhookHealth, 'paused' | 'newlyPaused'>>({
    name: 'count-stopped-webhooks',
    text: `select count(*)::integer as paused,
                  (count(*) filter (where paused_at > now() - interval '1 hour'))::integer as "newlyPaused"
             from webhook_cursors where paused_by <> 'tenant'`,
    values: [],
  });
  const { rows: waiting } = await db.query<Pick<WebhookHealth, 'waitingSeconds'>>({
    name: 'find-oldest-undelivered',
    text: `with looked_at as (
             select tenant_id, seq from webhook_cursors ${isDistributed() ? '' : SAMPLE}
              where paused_by is null and failures = 0 limit ${SAMPLE_WEBHOOKS}
           )
           select coalesce(max(extract(epoch from now() - e.at)), 0)::double precision as "waitingSeconds"
             from looked_at c
             join tenants t on t.id = c.tenant_id and t.status <> 'deleted'
             join event_streams s on s.tenant_id = c.tenant_id and s.last_seq > c.seq
             join events e on e.tenant_id = s.tenant_id and e.seq = c.seq + 1`,
    values: [],
  });
  return { ...stopped[0]!, ...waiting[0]! };
}
