/** The event of a webhook that the service pauses. */
import type { NewEvent } from '../../events/event.ts';
import type { WebhookPause } from '../events/event-catalogue.ts';
import type { NewDelivery } from './delivery.ts';
import type { Webhook } from './webhook.ts';

export function webhookPaused(
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
