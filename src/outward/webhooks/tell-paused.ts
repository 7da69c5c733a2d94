/** What tells that the service has paused a webhook: an audit entry, and the event for its tenant. */
import type { Actor } from '../../base/audit/actor.ts';
import { appendAudit } from '../../base/audit/append-audit.sql.ts';
import type { Tx } from '../../base/db/pool.ts';
import { appendEvents } from '../../events/append-events.sql.ts';
import type { NewEvent } from '../../events/event.ts';
import type { WebhookPause } from '../events/event-catalogue.ts';
import type { ClaimedWebhook } from './claimed-webhook.ts';
import type { NewDelivery } from './delivery.ts';
import { GONE } from './retry-schedule.ts';
import type { Pauser, Webhook } from './webhook.ts';
import { pausedEntry } from './webhook-audit.ts';

const WEBHOOKS: Actor = { kind: 'system', id: 'webhooks' };

type PausedBy = Exclude<Pauser, 'tenant'>;

/** Why a webhook is paused after this delivery. */
export function pauserAfter({ status }: Pick<NewDelivery, 'status'>): PausedBy {
  return status === GONE ? 'gone' : 'failing';
}

/** In the transaction that pauses it. `delivery`: the last one. */
export async function tellPaused(
  tx: Tx,
  webhook: ClaimedWebhook,
  pausedBy: PausedBy,
  delivery: NewDelivery,
): Promise<void> {
  await appendAudit(tx, webhook.tenant, WEBHOOKS, pausedEntry(webhook.id, pausedBy));
  await appendEvents(tx, webhook.tenant, [webhookPaused(webhook, pausedBy, delivery)]);
}

function webhookPaused(
  { id, url, description }: Pick<Webhook, 'id' | 'url' | 'description'>,
  reason: WebhookPause['reason'],
  { attempt, status, error, seq }: NewDelivery,
): NewEvent {
  const subject: WebhookPause = {
    webhookId: id,
    host: new URL(url).host,
    description: description || null,
    reason,
    seq: Number(seq),
    attempts: attempt,
    status,
    error,
  };
  return { type: 'webhook_paused', roomUid: null, subject };
}
