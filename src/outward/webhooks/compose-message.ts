/** Events as the message of one request to a webhook. */
import type { LoggedEvent } from '../../events/event.ts';
import { type PublicEvent, publicEvent } from '../events/public-event.ts';
import type { WebhookName } from './claimed-webhook.ts';
import type { DeliveryKind } from './delivery.ts';
import type { Message } from './send-message.ts';
import type { WebhookSettings } from './webhook.ts';
import { renderBody } from './webhook-body.ts';

/** Who gets it, and in which form. */
export type MessageRecipient = Pick<WebhookName, 'tenant'> & Pick<WebhookSettings, 'format' | 'maxBatch'>;

export interface SentAs {
  readonly kind: DeliveryKind;
  readonly attempt: number;
  /** So many events before the first one were deleted before they could be delivered. */
  readonly skipped?: bigint;
}

/** Events of the log, of which there is at least one. */
export function composeMessage(
  to: MessageRecipient,
  events: readonly LoggedEvent[],
  { skipped = 0n, ...as }: SentAs,
): Message {
  const rendered = events.map((event, at) => publicEvent(to.tenant, event, at === 0 ? skipped : 0n));
  return composeOf(to, rendered as [PublicEvent, ...PublicEvent[]], as, new Date());
}

/** Events as tenants see them. A test has no number. */
export function composeOf(
  { tenant, format, maxBatch }: MessageRecipient,
  events: readonly [PublicEvent, ...PublicEvent[]],
  { kind, attempt }: Pick<SentAs, 'kind' | 'attempt'>,
  signedAt: Date,
): Message {
  const isList = maxBatch > 1;
  const body = renderBody(tenant, events, { format, isList });
  const batchId = isList ? body.id : null;
  return {
    ...body,
    signedAt,
    events: events.map(({ id, seq, type, skipped = 0n }) => ({
      ...{ kind, eventId: id, seq: kind === 'test' ? null : seq, type, attempt, signedAt, skipped },
      ...{ format, batchId },
    })),
  };
}
