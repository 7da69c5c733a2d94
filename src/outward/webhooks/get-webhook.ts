/** One webhook of a tenant. */
import type { Db, Tx } from '../../base/db/pool.ts';
import { notFound } from '../../base/failure.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import { isWebhookId, type Webhook } from './webhook.ts';
import { findWebhook, findWebhooks, findWebhookUrls, lockWebhook } from './webhooks.sql.ts';

/** Fails with `not_found`. */
export async function getWebhook(db: Db, tenant: TenantId, id: string): Promise<Webhook> {
  const webhook = isWebhookId(id) ? await findWebhook(db, tenant, id) : undefined;
  if (!webhook) throw notFound('webhook');
  return webhook;
}

/** Like `getWebhook()`; other changes of the webhook wait until the transaction ends. */
export async function getLockedWebhook(tx: Tx, tenant: TenantId, id: string): Promise<Webhook> {
  const webhook = isWebhookId(id) ? await lockWebhook(tx, tenant, id) : undefined;
  if (!webhook) throw notFound('webhook');
  return webhook;
}

/** The host of the address of each of these that is there, by its id. */
export async function findWebhookHosts(
  db: Db,
  tenant: TenantId,
  ids: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  if (ids.length === 0) return new Map();
  const found = await findWebhookUrls(db, tenant, ids);
  return new Map(found.map(({ id, url }) => [id, new URL(url).host]));
}

/** All of the tenant: WEBHOOKS_MAX at most. Oldest first. */
export function listWebhooks(db: Db, tenant: TenantId): Promise<Webhook[]> {
  return findWebhooks(db, tenant);
}
