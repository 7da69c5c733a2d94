/**
 * Webhooks: endpoints of a tenant that get its events, at least once, and in the order that the tenant chooses.
 *
 * A webhook is a reader with a place of its own in the tenant's log. What fails is sent again until it succeeds. In the
 * order of the tenant, the events after it wait; otherwise it is put aside, and the others go on. A webhook that has
 * accepted nothing for too long is paused, and goes on with the same events when the tenant resumes it.
 */

import type { ActingCaller } from '../../access/sessions/session.ts';
import type { Actor } from '../../base/audit/actor.ts';
import { invalidField } from '../../base/failure.ts';
import { isId } from '../../base/lib/ids.ts';
import { isOneLine } from '../../base/lib/one-line.ts';
import type { ShownHeaders } from './own-headers.ts';

/** Webhooks of one tenant. */
export const WEBHOOKS_MAX = 20;
/** Names and beginnings of names of rooms of one webhook. */
export const WEBHOOK_ROOMS_MAX = 20;
/** In characters. */
export const WEBHOOK_DESCRIPTION_LENGTH_MAX = 200;

/** May be empty. Fails with `invalid_request`. */
export function parseDescription(text: string): string {
  if ([...text].length > WEBHOOK_DESCRIPTION_LENGTH_MAX || !isOneLine(text)) {
    throw invalidField(
      'description',
      `must be one line of up to ${WEBHOOK_DESCRIPTION_LENGTH_MAX} characters, without marks of direction`,
    );
  }
  return text;
}

/** `tenant`: that of the log, one at a time. `room`: that of the log in each room, rooms side by side. `none`: side by side. */
export const WEBHOOK_ORDERS = ['tenant', 'room', 'none'] as const;
export type WebhookOrder = (typeof WEBHOOK_ORDERS)[number];

/** Requests at once: as many as a tenant has places in a lane. */
export const IN_FLIGHT_MAX = 20;
/** More than one webhook gets anyway. */
export const PER_SECOND_MAX = 1_000;

/** `boxoffice`: as `GET /v1/events` answers them; `cloudevents`: with the names of CloudEvents. */
export const WEBHOOK_FORMATS = ['boxoffice', 'cloudevents'] as const;
export type WebhookFormat = (typeof WEBHOOK_FORMATS)[number];

/** Events in one request. */
export const BATCH_MAX = 100;

/** `failing`: its last attempt failed; `gone`: it answered 410. */
export const PAUSERS = ['tenant', 'failing', 'gone'] as const;
export type Pauser = (typeof PAUSERS)[number];

/** What the tenant sets. */
export interface WebhookSettings {
  readonly url: string;
  /** None: all. */
  readonly types: readonly string[];
  /** Names of rooms, or beginnings of names before a `*`: only events of these. None: all events. */
  readonly rooms: readonly string[];
  readonly description: string;
  readonly order: WebhookOrder;
  /** Requests at once, in an order other than that of the tenant. */
  readonly maxInFlight: number;
  /** Requests in a second; `null`: as fast as it accepts them. */
  readonly maxPerSecond: number | null;
  readonly format: WebhookFormat;
  /** Events in one request. 1: a request is an event, and no list. */
  readonly maxBatch: number;
}

/** What a webhook has that says nothing else. */
export const WEBHOOK_DEFAULTS = {
  types: [],
  rooms: [],
  description: '',
  order: 'tenant',
  maxInFlight: 10,
  maxPerSecond: null,
  format: 'boxoffice',
  maxBatch: 1,
} as const satisfies Omit<WebhookSettings, 'url'>;

/** Events of one webhook that are put aside. Its place in the log does not move on while there are so many. */
export const WAITING_MAX = { paid: 10_000, pending: 1_000 } as const;

export interface Webhook extends WebhookSettings, ShownHeaders {
  readonly id: string;
  readonly createdAt: Date;
  /** Every wanted event up to this number has been delivered, or was put aside. */
  readonly seq: bigint;
  /** How many are put aside. */
  readonly waiting: number;
  /** When the first of those is tried again, or since when it may be; `null`: none is put aside, or it is paused. */
  readonly waitingRetryAt: Date | null;
  /** Dead letters: `DEAD_LETTERS_COUNTED_MAX` stands for that many or more. */
  readonly givenUp: number;
  /** `null`: it gets events. */
  readonly pausedBy: Pauser | null;
  readonly pausedAt: Date | null;
  /** Failed attempts in a row: since the last delivery. */
  readonly failures: number;
  /** Nothing is tried before; `null`: nothing has failed, or it is paused. */
  readonly retryAt: Date | null;
}

/** Who changes webhooks: a caller with an API key, or a session of the console. */
export interface WebhookChanger extends ActingCaller {
  readonly actor: Actor;
}

export function isWebhookId(text: string): boolean {
  return isId('wh', text);
}
