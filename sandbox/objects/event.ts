/** Events: what happened, with the object as it was at that moment. */

/** The API version of the shapes in this sandbox. */
export const API_VERSION = '2026-10-28.endive';

export type EventType =
  | 'charge.dispute.closed'
  | 'charge.dispute.created'
  | 'charge.dispute.funds_reinstated'
  | 'charge.dispute.funds_withdrawn'
  | 'charge.dispute.updated'
  | 'charge.failed'
  | 'charge.pending'
  | 'charge.refunded'
  | 'charge.succeeded'
  | 'checkout.session.async_payment_failed'
  | 'checkout.session.async_payment_succeeded'
  | 'checkout.session.completed'
  | 'checkout.session.expired'
  | 'customer.created'
  | 'customer.deleted'
  | 'customer.updated'
  | 'invoice.created'
  | 'invoice.finalized'
  | 'invoice.paid'
  | 'payment_intent.canceled'
  | 'payment_intent.created'
  | 'payment_intent.payment_failed'
  | 'payment_intent.processing'
  | 'payment_intent.requires_action'
  | 'payment_intent.succeeded'
  | 'payment_method.attached'
  | 'payment_method.automatically_updated'
  | 'payment_method.detached'
  | 'payment_method.updated'
  | 'radar.early_fraud_warning.created'
  | 'refund.created'
  | 'refund.failed'
  | 'refund.updated';

export interface Event {
  readonly id: string;
  readonly created: number;
  readonly type: EventType;
  readonly object: object;
  readonly previous: Record<string, unknown> | null;
  readonly requestId: string | null;
  readonly idempotencyKey: string | null;
}

/** `pending` is the number of endpoints that have not accepted the event yet. */
export function renderEvent(event: Event, pending: number, apiVersion: string) {
  return {
    id: event.id,
    object: 'event',
    api_version: apiVersion,
    created: event.created,
    data: {
      object: event.object,
      ...(event.previous === null ? {} : { previous_attributes: event.previous }),
    },
    livemode: false,
    pending_webhooks: pending,
    request: { id: event.requestId, idempotency_key: event.idempotencyKey },
    type: event.type,
  };
}
