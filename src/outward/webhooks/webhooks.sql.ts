/** SQL of `webhook_endpoints` and `webhook_secrets`: what tenants set. */
import type { Db, Tx } from '../../base/db/pool.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import { DEAD_LETTERS_COUNTED_MAX } from './dead-letter.ts';
import { IS_DEAD } from './deliveries.sql.ts';
import type { ShownHeaders } from './own-headers.ts';
import type { Webhook, WebhookSettings } from './webhook.ts';

/** The columns of `WebhookSettings`, from `webhook_endpoints w`. */
export const SETTINGS = `w.url, w.types, w.rooms, w.description, w.ordering as "order", w.max_in_flight as "maxInFlight",
                 w.max_per_second as "maxPerSecond", w.format, w.max_batch as "maxBatch"`;

/** The columns of a `Webhook` of the tenant `$1`, from `webhook_endpoints w` and `webhook_cursors c`. */
const WEBHOOK = `w.id, ${SETTINGS}, w.header_names as "headerNames", w.has_basic_auth as "hasBasicAuth", w.created_at as "createdAt", c.seq, c.paused_by as "pausedBy",
                 c.paused_at as "pausedAt", c.failures, c.retry_at as "retryAt",
                 (select count(*)::integer from webhook_waiting q where q.tenant_id = $1 and q.webhook_id = w.id) as waiting,
                 (select greatest(min(q.retry_at), c.retry_at) from webhook_waiting q
                   where q.tenant_id = $1 and q.webhook_id = w.id and c.paused_by is null
                  having min(q.retry_at) is not null) as "waitingRetryAt",
                 (select count(*)::integer
                    from (select from webhook_deliveries
                           where tenant_id = $1 and webhook_id = w.id and ${IS_DEAD}
                           limit ${DEAD_LETTERS_COUNTED_MAX}) as dead) as "givenUp"`;
const WITH_CURSOR = `webhook_endpoints w
             join webhook_cursors c on c.tenant_id = w.tenant_id and c.webhook_id = w.id`;

/** All of a tenant, oldest first. */
export async function findWebhooks(db: Db, tenant: TenantId): Promise<Webhook[]> {
  const { rows } = await db.query<Webhook>({
    name: 'find-webhooks',
    text: `select ${WEBHOOK} from ${WITH_CURSOR} where w.tenant_id = $1 order by w.created_at, w.id`,
    values: [tenant],
  });
  return rows;
}

export async function findWebhookUrls(
  db: Db,
  tenant: TenantId,
  ids: readonly string[],
): Promise<{ readonly id: string; readonly url: string }[]> {
  const { rows } = await db.query<{ id: string; url: string }>({
    name: 'find-webhook-urls',
    text: 'select id, url from webhook_endpoints where tenant_id = $1 and id = any($2)',
    values: [tenant, ids],
  });
  return rows;
}

export async function findWebhook(db: Db, tenant: TenantId, id: string): Promise<Webhook | undefined> {
  const { rows } = await db.query<Webhook>({
    name: 'find-webhook',
    text: `select ${WEBHOOK} from ${WITH_CURSOR} where w.tenant_id = $1 and w.id = $2`,
    values: [tenant, id],
  });
  return rows[0];
}

/** Lock the settings of a webhook, and return it; `undefined`: there is none. */
export async function lockWebhook(tx: Tx, tenant: TenantId, id: string): Promise<Webhook | undefined> {
  await tx.query({
    name: 'lock-webhook',
    text: 'select from webhook_endpoints where tenant_id = $1 and id = $2 for no key update',
    values: [tenant, id],
  });
  return findWebhook(tx, tenant, id);
}

export async function countWebhooks(tx: Tx, tenant: TenantId): Promise<number> {
  const { rows } = await tx.query<{ count: number }>({
    name: 'count-webhooks',
    text: 'select count(*)::integer as count from webhook_endpoints where tenant_id = $1',
    values: [tenant],
  });
  return rows[0]!.count;
}

export async function insertWebhook(
  tx: Tx,
  tenant: TenantId,
  { id, ...settings }: WebhookSettings & Pick<Webhook, 'id'>,
): Promise<void> {
  await tx.query({
    name: 'insert-webhook',
    text: `insert into webhook_endpoints
             (tenant_id, id, url, types, description, ordering, max_in_flight, max_per_second, format, max_batch,
              rooms)
           values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`,
    values: [tenant, id, ...settingValues(settings)],
  });
}

export async function updateWebhook(
  tx: Tx,
  tenant: TenantId,
  id: string,
  settings: WebhookSettings,
): Promise<void> {
  await tx.query({
    name: 'update-webhook',
    text: `update webhook_endpoints
              set url = $3, types = $4, description = $5, ordering = $6, max_in_flight = $7, max_per_second = $8,
                  format = $9, max_batch = $10, rooms = $11, version = version + 1
            where tenant_id = $1 and id = $2`,
    values: [tenant, id, ...settingValues(settings)],
  });
}

/** `sealed`: the headers. `null`: there are none. */
export async function updateOwnHeaders(
  tx: Tx,
  tenant: TenantId,
  id: string,
  { headerNames, hasBasicAuth, sealed }: ShownHeaders & { readonly sealed: Buffer | null },
): Promise<void> {
  await tx.query({
    name: 'update-webhook-headers',
    text: `update webhook_endpoints
              set header_names = $3, has_basic_auth = $4, sealed_headers = $5, version = version + 1
            where tenant_id = $1 and id = $2`,
    values: [tenant, id, headerNames, hasBasicAuth, sealed],
  });
}

/** `null`: it has none. */
export async function findSealedHeaders(db: Db, tenant: TenantId, id: string): Promise<Buffer | null> {
  const { rows } = await db.query<{ sealed: Buffer | null }>({
    name: 'find-webhook-headers',
    text: 'select sealed_headers as sealed from webhook_endpoints where tenant_id = $1 and id = $2',
    values: [tenant, id],
  });
  return rows[0]?.sealed ?? null;
}

function settingValues(settings: WebhookSettings): unknown[] {
  const { url, types, description, order, maxInFlight, maxPerSecond, format, maxBatch, rooms } = settings;
  return [url, types, description, order, maxInFlight, maxPerSecond, format, maxBatch, rooms];
}

/** With its secrets and its place. Returns whether it existed. */
export async function deleteWebhook(tx: Tx, tenant: TenantId, id: string): Promise<boolean> {
  const { rowCount } = await tx.query({
    name: 'delete-webhook',
    text: 'delete from webhook_endpoints where tenant_id = $1 and id = $2',
    values: [tenant, id],
  });
  return rowCount === 1;
}

/** The number of the next secret, and how many others sign. The webhook must be locked. */
export async function countSecrets(
  tx: Tx,
  tenant: TenantId,
  webhook: string,
): Promise<{ readonly next: number; readonly signing: number }> {
  const { rows } = await tx.query<{ next: number; signing: number }>({
    name: 'count-webhook-secrets',
    text: `select coalesce(max(number), 0) + 1 as next,
                  (count(*) filter (where retires_at is null or retires_at > now()))::integer as signing
             from webhook_secrets where tenant_id = $1 and webhook_id = $2`,
    values: [tenant, webhook],
  });
  return rows[0]!;
}

export async function insertSecret(
  tx: Tx,
  tenant: TenantId,
  webhook: string,
  { number, sealed }: SealedSecret,
): Promise<void> {
  await tx.query({
    name: 'insert-webhook-secret',
    text: 'insert into webhook_secrets (tenant_id, webhook_id, number, sealed) values ($1, $2, $3, $4)',
    values: [tenant, webhook, number, sealed],
  });
}

/**
 * Let all secrets of the webhook retire in `overlapSeconds` at the latest, and delete those that have. Returns when
 * the last one retires.
 */
export async function retireSecrets(
  tx: Tx,
  tenant: TenantId,
  webhook: string,
  overlapSeconds: number,
): Promise<Date> {
  await tx.query({
    name: 'delete-retired-webhook-secrets',
    text: 'delete from webhook_secrets where tenant_id = $1 and webhook_id = $2 and retires_at <= now()',
    values: [tenant, webhook],
  });
  const { rows } = await tx.query<{ retiresAt: Date }>({
    name: 'retire-webhook-secrets',
    text: `with retiring as (
             update webhook_secrets
                set retires_at = least(retires_at, now() + make_interval(secs => $3))
              where tenant_id = $1 and webhook_id = $2
           ), changed as (
             update webhook_endpoints set version = version + 1 where tenant_id = $1 and id = $2
           )
           select now() + make_interval(secs => $3) as "retiresAt"`,
    values: [tenant, webhook, overlapSeconds],
  });
  return rows[0]!.retiresAt;
}

export interface SealedSecret {
  readonly number: number;
  readonly sealed: Buffer;
}

/** Those that sign now, newest first. */
export async function findSecrets(db: Db, tenant: TenantId, webhook: string): Promise<SealedSecret[]> {
  const { rows } = await db.query<SealedSecret>({
    name: 'find-webhook-secrets',
    text: `select number, sealed from webhook_secrets
            where tenant_id = $1 and webhook_id = $2 and (retires_at is null or retires_at > now())
            order by number desc`,
    values: [tenant, webhook],
  });
  return rows;
}

/** Those of several webhooks that sign now, newest first. */
export async function findSecretsOf(
  db: Db,
  tenant: TenantId,
  webhooks: readonly string[],
): Promise<(SealedSecret & { readonly webhook: string })[]> {
  const { rows } = await db.query<SealedSecret & { readonly webhook: string }>({
    name: 'find-secrets-of-webhooks',
    text: `select webhook_id as webhook, number, sealed from webhook_secrets
            where tenant_id = $1 and webhook_id = any($2) and (retires_at is null or retires_at > now())
            order by number desc`,
    values: [tenant, webhooks],
  });
  return rows;
}

/** Those that signed at a time, newest first, as far as they are kept. */
export async function findSecretsAt(
  db: Db,
  tenant: TenantId,
  webhook: string,
  at: Date,
): Promise<SealedSecret[]> {
  const { rows } = await db.query<SealedSecret>({
    name: 'find-webhook-secrets-at',
    text: `select number, sealed from webhook_secrets
            where tenant_id = $1 and webhook_id = $2 and created_at <= $3 and (retires_at is null or retires_at > $3)
            order by number desc`,
    values: [tenant, webhook, at],
  });
  return rows;
}
