/** Events as webhooks get them, and how they are read from JSON. */

import type { EventData } from './event-types.ts';
import type { AnswerOf } from './rest.ts';
import { readJson } from './rest.ts';
import type { WebhookEventType } from './rest-types.ts';

/** An event of the log, as it is pulled. */
export type PulledEvent = AnswerOf<'GET /v1/events'>['events'][number];

/**
 * Something that happened. `data` has the names and values of docs/events.md: its times are texts, and its integers
 * are numbers. Expect types and members that are newer than this library.
 */
export interface WebhookEvent extends Omit<PulledEvent, 'type'> {
  /** What happened. `webhook_test`, which was asked for, has the number 0. */
  type: WebhookEventType | 'webhook_test';
}

/**
 * The same with the data that events of its type have: after a comparison of `type`, the members of `data` have types. One
 * whose type is newer than this library is none of these.
 */
export type TypedEvent<T extends keyof EventData = keyof EventData> = {
  [K in T]: WebhookEvent & {
    /** What happened. */
    type: K;
    /** What it happened to, as it was right after. */
    data: EventData[K];
  };
}[T];

/** The event of a body; `undefined` if it is none. */
export function readWebhookEvent(body: string): TypedEvent | undefined {
  try {
    const event = readJson(body);
    return isEvent(event) ? (event as TypedEvent) : undefined;
  } catch {
    return undefined;
  }
}

/** The events of a body: one, or a list of them. `undefined` if it is neither. */
export function readWebhookEvents(body: string): TypedEvent[] | undefined {
  try {
    const value = readJson(body);
    const events: unknown = isEvent(value) ? [value] : Object(value).events;
    const isList = Array.isArray(events) && events.length > 0 && events.every(isEvent);
    return isList ? (events as TypedEvent[]) : undefined;
  } catch {
    return undefined;
  }
}

function isEvent(value: unknown): value is WebhookEvent {
  const { id, seq, type, timestamp, data } = Object(value);
  return (
    typeof id === 'string' &&
    typeof seq === 'bigint' &&
    typeof type === 'string' &&
    timestamp instanceof Date &&
    !Number.isNaN(timestamp.getTime()) &&
    typeof data === 'object' &&
    data !== null &&
    !Array.isArray(data)
  );
}
