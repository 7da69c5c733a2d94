/** Delete a webhook, with its secrets. Its deliveries are deleted when they are old. */
import { appendAudit } from '../../base/audit/append-audit.sql.ts';
import type { Tx } from '../../base/db/pool.ts';
import { getLockedWebhook } from './get-webhook.ts';
import type { WebhookChanger } from './webhook.ts';
import { deletedEntry } from './webhook-audit.ts';
import { deleteWebhook as deleteRow } from './webhooks.sql.ts';

/** Fails with `not_found`. */
export async function deleteWebhook(tx: Tx, { tenant, actor }: WebhookChanger, id: string): Promise<void> {
  const webhook = await getLockedWebhook(tx, tenant, id);
  await deleteRow(tx, tenant, id);
  await appendAudit(tx, tenant, actor, deletedEntry(webhook));
}
