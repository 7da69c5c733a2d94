/** The event of a webhook that the service pauses. */
import type { NewEvent } from '../../events/event.ts';
import type { NewDelivery } from './delivery.ts';
import type { Pauser, Webhook } from './webhook.ts';

/** The subject of `webhook_paused`. The address may hold a secret of its receiver, so only its host is told. */
export interface WebhookPause {
  readonly webhookId: string;
  readonly host: string;
  readonly description: string | null;
  readonly reason: Exclude<Pauser, 'tenant'>;
  /** The number of the event that could not be delivered, and of the attempts. */
  readonly seq: number;
  readonly attempts: number;
  /** What the last attempt came to: the status of the answer, or why there was none. */
  readonly status: number | null;
  readonly error: string | null;
}

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
