/** Send again what a webhook could not deliver: events that were given up, and at once those that are put aside. */
import { appendAudit } from '../../base/audit/append-audit.sql.ts';
import { runTogether } from '../../base/db/pipeline.ts';
import type { Tx } from '../../base/db/pool.ts';
import { hasDeadLetters } from './deliveries.sql.ts';
import { getLockedWebhook, getWebhook } from './get-webhook.ts';
import type { Webhook, WebhookChanger } from './webhook.ts';
import { resentEntry } from './webhook-audit.ts';
import { hurryWebhook } from './webhook-cursors.sql.ts';
import {
  arrangeRooms,
  countFreeWaiting,
  hurryFailed,
  lockCursor,
  putDeadAside,
} from './webhook-waiting.sql.ts';

export interface ResentFailed {
  readonly webhook: Webhook;
  /** How many events that were given up are put aside again. */
  readonly resent: number;
  /** Others stay given up, because no more events may be put aside. */
  readonly hasMore: boolean;
}

/**
 * Those that were given up at or after `since` and whose events are kept, the oldest first. All else that is put aside and
 * has failed is due, whenever it failed. Fails with `not_found`.
 */
export async function resendFailed(
  tx: Tx,
  { tenant, actor }: WebhookChanger,
  id: string,
  since: Date,
): Promise<ResentFailed> {
  const { order } = await getLockedWebhook(tx, tenant, id);
  const name = { tenant, id };
  await runTogether(tx, [lockCursor(name)]);
  const limit = await countFreeWaiting(tx, name);
  const resent = await putDeadAside(tx, name, { since, limit });
  if (order === 'room') await runTogether(tx, [arrangeRooms(name)]);
  await hurryFailed(tx, name);
  await hurryWebhook(tx, name);
  if (resent > 0) await appendAudit(tx, tenant, actor, resentEntry(id, since, resent));
  const hasMore = resent === limit && (await hasDeadLetters(tx, tenant, id, since));
  return { webhook: await getWebhook(tx, tenant, id), resent, hasMore };
}
