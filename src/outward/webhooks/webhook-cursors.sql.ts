/** SQL of `webhook_cursors`: how far webhooks are, and which process delivers to them. */
import type { Db, Tx } from '../../base/db/pool.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import { deliveryValues, logDelivery } from './deliveries.sql.ts';
import type { NewDelivery } from './delivery.ts';
import type { Pauser, WebhookSettings } from './webhook.ts';

/** One webhook of one tenant. */
export interface WebhookName {
  readonly tenant: TenantId;
  readonly id: string;
}

/** The condition that events may wait for a webhook, and that no process delivers them. */
const IS_DUE = `c.paused_by is null and (c.retry_at is null or c.retry_at <= now())
            and (c.leased_until is null or c.leased_until <= now())`;

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

/** Webhooks of these tenants for which events wait, the longest unserved first. Those of deleted tenants get nothing. */
export async function findDueWebhooks(
  db: Db,
  tenants: readonly TenantId[],
  limit: number,
): Promise<WebhookName[]> {
  const { rows } = await db.query<WebhookName>({
    name: 'find-due-webhooks',
    text: `select c.tenant_id as tenant, c.webhook_id as id
             from webhook_cursors c
             join event_streams s on s.tenant_id = c.tenant_id
             join tenants t on t.id = c.tenant_id
            where c.tenant_id = any($1) and c.seq < s.last_seq and ${IS_DUE} and t.status <> 'deleted'
            order by c.leased_until nulls first limit $2`,
    values: [tenants, limit],
  });
  return rows;
}

/** What a turn of deliveries needs to know. */
export interface ClaimedWebhook extends WebhookName, WebhookSettings {
  readonly lease: string;
  readonly version: number;
  readonly seq: bigint;
  readonly skipped: bigint;
  readonly failures: number;
}

/** Take the lease of a webhook; `undefined` if another process was faster, or nothing is due any more. */
export async function claimWebhook(
  db: Db,
  { tenant, id }: WebhookName,
  { lease, leaseSeconds }: { readonly lease: string; readonly leaseSeconds: number },
): Promise<ClaimedWebhook | undefined> {
  const { rows } = await db.query<ClaimedWebhook>({
    name: 'claim-webhook',
    text: `update webhook_cursors c set lease = $3, leased_until = now() + make_interval(secs => $4)
             from webhook_endpoints w
            where c.tenant_id = $1 and c.webhook_id = $2 and w.tenant_id = $1 and w.id = $2 and ${IS_DUE}
           returning c.tenant_id as tenant, c.webhook_id as id, c.lease, w.version, w.url, w.types, w.description,
                     c.seq, c.skipped, c.failures`,
    values: [tenant, id, lease, leaseSeconds],
  });
  return rows[0];
}

/** End the turn. */
export async function releaseWebhook(db: Db, { tenant, id, lease }: ClaimedWebhook): Promise<void> {
  await db.query({
    name: 'release-webhook',
    text: `update webhook_cursors set lease = null, leased_until = now()
            where tenant_id = $1 and webhook_id = $2 and lease = $3`,
    values: [tenant, id, lease],
  });
}

export interface Move {
  readonly from: bigint;
  readonly to: bigint;
  /** How `skipped` changes. */
  readonly skipped: bigint;
  readonly leaseSeconds: number;
}

/**
 * Move the place of a webhook, and renew its lease. Returns whether the turn may go on: false if the lease or the place
 * has changed, which moves nothing, or if the tenant has changed the webhook.
 */
export async function moveWebhook(db: Db, webhook: ClaimedWebhook, move: Move): Promise<boolean> {
  const { rows } = await db.query<{ isSame: boolean }>({
    name: 'move-webhook',
    text: `${MOVE} returning c.paused_by is null and w.version = $8 as "isSame"`,
    values: moveValues(webhook, move),
  });
  return rows[0]?.isSame ?? false;
}

/** Like `moveWebhook()`, after a delivery, which is logged in any case. */
export async function finishDelivery(
  db: Db,
  webhook: ClaimedWebhook,
  move: Move,
  delivery: NewDelivery,
): Promise<boolean> {
  const { rows } = await db.query<{ isSame: boolean }>({
    name: 'finish-webhook-delivery',
    text: `with moved as (${MOVE} returning c.paused_by is null and w.version = $8 as "isSame"),
                logged as (${logDelivery(9)})
           select "isSame" from moved`,
    values: [...moveValues(webhook, move), ...deliveryValues(delivery)],
  });
  return rows[0]?.isSame ?? false;
}

const MOVE = `update webhook_cursors c
             set seq = $5, skipped = c.skipped + $6, failures = 0, retry_at = null,
                 leased_until = now() + make_interval(secs => $7)
            from webhook_endpoints w
           where c.tenant_id = $1 and c.webhook_id = $2 and c.lease = $3 and c.seq = $4
             and w.tenant_id = $1 and w.id = $2`;

function moveValues({ tenant, id, lease, version }: ClaimedWebhook, move: Move): unknown[] {
  return [tenant, id, lease, move.from, move.to, move.skipped, move.leaseSeconds, version];
}

export interface Failing {
  readonly seq: bigint;
  /** `undefined`: it is paused. */
  readonly waitSeconds: number | undefined;
  readonly pausedBy: Exclude<Pauser, 'tenant'>;
}

/**
 * After a failed delivery: log it, give the lease back, and put the next attempt off or pause the webhook, unless the
 * tenant has changed it meanwhile. Returns whether it is paused by this.
 */
export async function failDelivery(
  tx: Tx,
  { tenant, id, lease, version }: ClaimedWebhook,
  { seq, waitSeconds, pausedBy }: Failing,
  delivery: NewDelivery,
): Promise<boolean> {
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
                set lease = null, leased_until = seen.now,
                    failures = c.failures + case when is_same then 1 else 0 end,
                    retry_at = case when is_same then seen.retry_at else c.retry_at end,
                    paused_by = case when is_same then $7 else c.paused_by end,
                    paused_at = case when is_same and $7::text is not null then seen.now else c.paused_at end
               from seen
              where c.tenant_id = $1 and c.webhook_id = seen.webhook_id
             returning is_same and $7::text is not null as "isPaused"
           ), logged as (${logDelivery(8)})
           select "isPaused" from failed`,
    values: [
      tenant,
      id,
      lease,
      seq,
      version,
      waitSeconds ?? null,
      waitSeconds === undefined ? pausedBy : null,
      ...deliveryValues(delivery),
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

/** Let it go on at once, with all its attempts. */
export async function resumeWebhook(tx: Tx, { tenant, id }: WebhookName): Promise<void> {
  await tx.query({
    name: 'resume-webhook',
    text: `update webhook_cursors set paused_by = null, paused_at = null, failures = 0, retry_at = null
            where tenant_id = $1 and webhook_id = $2`,
    values: [tenant, id],
  });
}

/** Move the place back to before the first event that is kept and happened at or after `since`, unless it is before. */
export async function moveBack(tx: Tx, { tenant, id }: WebhookName, since: Date): Promise<void> {
  await tx.query({
    name: 'move-webhook-back',
    text: `update webhook_cursors c
              set seq = least(c.seq, coalesce((select min(seq) - 1 from events where tenant_id = $1 and at >= $3), c.seq)),
                  skipped = 0, failures = 0, retry_at = null
            where c.tenant_id = $1 and c.webhook_id = $2`,
    values: [tenant, id, since],
  });
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
