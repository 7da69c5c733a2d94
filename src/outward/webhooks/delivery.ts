/** Deliveries: attempts to send an event to a webhook. */
import type { SendOutcome } from './send-request.ts';
import type { WebhookFormat } from './webhook.ts';

/**
 * `event`: in its place in the log; `aside`: an event that was put aside, so others after it may have come before;
 * `test`: the test event; `resend`: one event that the tenant asked for again.
 */
export const DELIVERY_KINDS = ['event', 'aside', 'test', 'resend'] as const;
export type DeliveryKind = (typeof DELIVERY_KINDS)[number];

export interface NewDelivery {
  readonly kind: DeliveryKind;
  readonly eventId: string;
  /** `null`: a test. */
  readonly seq: bigint | null;
  readonly type: string;
  readonly attempt: number;
  /** When the request was signed. `null`: an attempt of before this was kept. */
  readonly signedAt: Date | null;
  /** How many events the body said were deleted before they could be delivered. */
  readonly skipped: bigint;
  readonly latencyMs: number;
  /** The status of the answer; `null`: there was none, and `error` says why. */
  readonly status: number | null;
  readonly error: string | null;
  /** Its first characters. */
  readonly answer: string | null;
  readonly format: WebhookFormat;
  /** The id of the request in which it was sent as one of a list. `null`: the request was the event. */
  readonly batchId: string | null;
  /** The event is not sent again, because it was refused too often. Left out: it may be. */
  readonly gaveUp?: boolean;
}

export interface Delivery extends NewDelivery {
  readonly id: bigint;
  readonly at: Date;
}

/** What attempts can be listed by: see `isDelivered()`. */
export const DELIVERY_OUTCOMES = ['delivered', 'failed'] as const;
export type DeliveryOutcome = (typeof DELIVERY_OUTCOMES)[number];

/** Source: Standard Webhooks: any status from 200 to 299 accepts the event. */
export function isDelivered({ status }: Pick<NewDelivery, 'status'>): boolean {
  return status !== null && status >= 200 && status <= 299;
}

/** What became of one attempt. */
export function outcomeFields(
  outcome: SendOutcome,
): Pick<NewDelivery, 'latencyMs' | 'status' | 'error' | 'answer'> {
  const latencyMs = Math.max(0, Math.round(outcome.latencyMs));
  return outcome.kind === 'answered'
    ? { latencyMs, status: outcome.status, error: null, answer: storable(outcome.body) }
    : { latencyMs, status: null, error: storable(outcome.error), answer: null };
}

/** PostgreSQL stores neither NUL nor half of a surrogate pair. */
function storable(text: string): string {
  return text.replaceAll('\0', '\ufffd').toWellFormed();
}

/** As the interfaces show it. */
export function renderDeliveryId(id: bigint): string {
  return `whd_${id}`;
}

/** `undefined` for anything that is no id. */
export function parseDeliveryId(text: string): bigint | undefined {
  const [, number] = /^whd_([1-9]\d{0,17})$/.exec(text) ?? [];
  return number === undefined ? undefined : BigInt(number);
}
