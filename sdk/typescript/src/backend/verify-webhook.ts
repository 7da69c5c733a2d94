/** Verifies webhooks, as Standard Webhooks 1.0.0 says: `v1`, HMAC-SHA256. */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { readWebhookEvent, readWebhookEvents, type TypedEvent } from './webhook-event.ts';

/** Why a request is no genuine webhook. */
export const WEBHOOK_REFUSALS = {
  MISSING_HEADER: 'webhook-id, webhook-timestamp and webhook-signature must be given, each once',
  BAD_TIMESTAMP: 'webhook-timestamp must be whole seconds since 1970',
  STALE: 'webhook-timestamp is more than 5 minutes from now',
  BAD_SIGNATURE: 'no v1 signature is that of a secret',
  BAD_BODY: 'the body is signed, but is no event; verifyWebhookEvents reads a list of events',
} as const;

/** The name of a reason. */
export type WebhookRefusal = keyof typeof WEBHOOK_REFUSALS;

/** The request is no genuine webhook: answer it with 401. */
export class WebhookRefused extends Error {
  override readonly name = 'WebhookRefused';
  /** Why. */
  readonly code: WebhookRefusal;

  constructor(code: WebhookRefusal) {
    super(WEBHOOK_REFUSALS[code]);
    this.code = code;
  }
}

/** Headers of a request: those of `fetch`, or those of Node. Upper and lower case are the same. */
export type WebhookHeaders = Headers | Readonly<Record<string, string | readonly string[] | undefined>>;

/** For tests. */
export interface VerifyWebhookOptions {
  /** The time of the check. Default: now. */
  readonly now?: Date | undefined;
}

const SECRET = /^whsec_(?:[A-Za-z0-9+/]{4})+(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;
const SECONDS_MAX = 300;

/**
 * The event that a webhook tells. `body` is the raw body, byte for byte as it arrived. During a rotation, give the
 * old secret and the new one.
 *
 * An event may come twice: keep its `id`, and ignore repetitions. Throws `WebhookRefused` for a request that is not
 * genuine or too old, and `TypeError` for a secret that is none.
 */
export function verifyWebhook(
  secrets: string | readonly string[],
  headers: WebhookHeaders,
  body: Uint8Array | string,
  options: VerifyWebhookOptions = {},
): TypedEvent {
  verifyWebhookSignature(secrets, headers, body, options);
  const event = readWebhookEvent(textOf(body));
  if (!event) throw new WebhookRefused('BAD_BODY');
  return event;
}

/**
 * Like `verifyWebhook()`, of a webhook that gets several events in a request (`max_batch`): all of them, in order. A body
 * that is one event is one, too. Answer 2xx once you have stored all: after another answer they come again.
 */
export function verifyWebhookEvents(
  secrets: string | readonly string[],
  headers: WebhookHeaders,
  body: Uint8Array | string,
  options: VerifyWebhookOptions = {},
): TypedEvent[] {
  verifyWebhookSignature(secrets, headers, body, options);
  const events = readWebhookEvents(textOf(body));
  if (!events) throw new WebhookRefused('BAD_BODY');
  return events;
}

/** Like `verifyWebhook()`, without reading the body: for CloudEvents, which have libraries of their own. */
export function verifyWebhookSignature(
  secrets: string | readonly string[],
  headers: WebhookHeaders,
  body: Uint8Array | string,
  { now = new Date() }: VerifyWebhookOptions = {},
): void {
  const keys = keysOf(typeof secrets === 'string' ? [secrets] : secrets);
  if (typeof body !== 'string' && !(body instanceof Uint8Array))
    throw new TypeError('body must be the raw body: bytes, or a string');
  const id = headerOf(headers, 'webhook-id');
  const timestamp = headerOf(headers, 'webhook-timestamp');
  const signatures = headerOf(headers, 'webhook-signature').split(' ');
  if (!/^[0-9]{1,12}$/.test(timestamp)) throw new WebhookRefused('BAD_TIMESTAMP');
  const ageSeconds = Math.floor(now.getTime() / 1000) - Number(timestamp);
  if (!(Math.abs(ageSeconds) <= SECONDS_MAX)) throw new WebhookRefused('STALE');
  const isGenuine = keys.some((key) => {
    const digest = createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest('base64');
    return signatures.some((each) => isSame(each, `v1,${digest}`));
  });
  if (!isGenuine) throw new WebhookRefused('BAD_SIGNATURE');
}

function textOf(body: Uint8Array | string): string {
  return typeof body === 'string' ? body : new TextDecoder().decode(body);
}

/** An empty key would be one that everybody knows. */
function keysOf(secrets: readonly string[]): Buffer[] {
  const isUsable =
    secrets.length > 0 && secrets.every((each) => typeof each === 'string' && SECRET.test(each));
  if (!isUsable) throw new TypeError('secrets must be one or more texts: whsec_ and base64');
  return secrets.map((each) => Buffer.from(each.slice('whsec_'.length), 'base64'));
}

function headerOf(headers: WebhookHeaders, name: string): string {
  const values =
    headers instanceof Headers
      ? [headers.get(name)]
      : Object.entries(headers)
          .filter(([key]) => key.toLowerCase() === name)
          .flatMap(([, value]) => value);
  const [value, ...others] = values;
  if (typeof value !== 'string' || value === '' || others.length > 0)
    throw new WebhookRefused('MISSING_HEADER');
  return value;
}

/** In constant time. */
function isSame(given: string, expected: string): boolean {
  const [one, other] = [Buffer.from(given), Buffer.from(expected)];
  return one.length === other.length && timingSafeEqual(one, other);
}
