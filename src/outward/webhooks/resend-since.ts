/** Move a webhook back in the log, so that it gets what it has got again, in order. */
import { appendAudit } from '../../base/audit/append-audit.sql.ts';
import type { Tx } from '../../base/db/pool.ts';
import { getLockedWebhook, getWebhook } from './get-webhook.ts';
import type { Webhook, WebhookChanger } from './webhook.ts';
import { movedBackEntry } from './webhook-audit.ts';
import { moveBack } from './webhook-cursors.sql.ts';

/** Begins with the first event that happened at or after `since` and is kept. Never moves forward. Fails with `not_found`. */
export async function resendSince(
  tx: Tx,
  { tenant, actor }: WebhookChanger,
  id: string,
  since: Date,
): Promise<Webhook> {
  const before = await getLockedWebhook(tx, tenant, id);
  await moveBack(tx, { tenant, id }, since);
  const after = await getWebhook(tx, tenant, id);
  if (after.seq !== before.seq)
    await appendAudit(tx, tenant, actor, movedBackEntry(id, before.seq, after.seq));
  return after;
}
