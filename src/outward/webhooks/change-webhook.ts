/** Change, pause or resume a webhook. */
import { appendAudit } from '../../base/audit/append-audit.sql.ts';
import type { Tx } from '../../base/db/pool.ts';
import { getLockedWebhook, getWebhook } from './get-webhook.ts';
import type { WebhookDeps } from './send-message.ts';
import { type GivenHeaders, setOwnHeaders } from './set-own-headers.ts';
import { parseDescription, type Webhook, type WebhookChanger, type WebhookSettings } from './webhook.ts';
import { changedEntry, pausedEntry, resumedEntry } from './webhook-audit.ts';
import { pauseWebhook, resumeWebhook } from './webhook-cursors.sql.ts';
import { parseWebhookUrl } from './webhook-url.ts';
import { updateWebhook } from './webhooks.sql.ts';

/** What is left out keeps its value. */
export interface WebhookChange extends Partial<WebhookSettings>, GivenHeaders {
  /** `false`: it goes on at once, where it stopped. Its failures count on. */
  readonly paused?: boolean;
}

/** Fails with `not_found`, and with `invalid_request` if the address or the description is not acceptable. */
export async function changeWebhook(
  tx: Tx,
  { box, config }: Pick<WebhookDeps, 'box' | 'config'>,
  { tenant, actor }: WebhookChanger,
  id: string,
  { paused, headers, basicAuth, ...wanted }: WebhookChange,
): Promise<Webhook> {
  const before = await getLockedWebhook(tx, tenant, id);
  const { url, types, rooms, description, order, maxInFlight, maxPerSecond, format, maxBatch } = {
    ...before,
    ...wanted,
  };
  const after = {
    url: url === before.url ? url : parseWebhookUrl(url, config.webhookNetworks).href,
    types,
    rooms,
    // One of before this rule stays.
    description: description === before.description ? description : parseDescription(description),
    order,
    maxInFlight,
    maxPerSecond,
    format,
    maxBatch,
  };
  const shown = await setOwnHeaders(tx, box, { tenant, id }, { headers, basicAuth });
  const entry = changedEntry(before, after, shown);
  if (entry) {
    await updateWebhook(tx, tenant, id, after);
    await appendAudit(tx, tenant, actor, entry);
  }
  const isOther = after.url !== before.url || after.order !== before.order || shown !== undefined;
  const hasMoved = isOther && before.pausedBy === null;
  if (paused === true && before.pausedBy === null) {
    await pauseWebhook(tx, { tenant, id });
    await appendAudit(tx, tenant, actor, pausedEntry(id, 'tenant'));
  } else if (paused === false || hasMoved) {
    await resumeWebhook(tx, { tenant, id });
    if (before.pausedBy !== null) await appendAudit(tx, tenant, actor, resumedEntry(id, before.pausedBy));
  }
  return getWebhook(tx, tenant, id);
}
