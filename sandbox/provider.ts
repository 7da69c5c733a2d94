/**
 * The context of every part of the sandbox: the state, the clock, the identifiers and the
 * webhooks; and `perform`, the only way to change something.
 */
import type { Ids } from './ids.ts';
import type { EventType } from './objects/event.ts';
import type { State } from './state/state.ts';
import type { Timers } from './timers.ts';
import type { Webhooks } from './webhooks/webhooks.ts';

export interface Provider {
  readonly state: State;
  readonly ids: Ids;
  readonly clock: () => Date;
  readonly webhooks: Webhooks;
  readonly timers: Timers;
  readonly log: (line: string) => void;
  /** Where browsers reach the hosted pages, without a slash at the end. */
  readonly publicUrl: string;
  readonly merchantName: string;
  /** Milliseconds until a bank debit settles by itself; undefined waits for the control API. */
  readonly settleAfterMs: number | undefined;
  /** The API request in progress, for events. Work is synchronous, so there is one at most. */
  cause: Cause | null;
}

export interface Cause {
  readonly requestId: string;
  readonly idempotencyKey: string | null;
}

/** Seconds since 1970, the unit of every Stripe timestamp. */
export function now(provider: Provider): number {
  return Math.floor(provider.clock().getTime() / 1000);
}

/**
 * Run `work` as one transaction and then start to deliver the events that it emitted.
 * `delivered` resolves when each of them has been attempted once.
 */
export function perform<T>(
  provider: Provider,
  cause: Cause | null,
  work: () => T,
): { result: T; delivered: Promise<void> } {
  provider.cause = cause;
  try {
    const result = provider.state.transaction(work);
    return { result, delivered: provider.webhooks.deliverFresh() };
  } catch (error) {
    provider.webhooks.discardFresh();
    throw error;
  } finally {
    provider.cause = null;
  }
}

/**
 * Record an event with `object` as it is now and queue it for every endpoint.
 * `previous` holds the previous values of the fields that an update changed.
 */
export function emit(
  provider: Provider,
  type: EventType,
  object: object,
  previous?: Record<string, unknown>,
): void {
  const event = provider.state.put('events', {
    id: provider.ids.next('evt_'),
    created: now(provider),
    type,
    object,
    previous: previous ?? null,
    requestId: provider.cause?.requestId ?? null,
    idempotencyKey: provider.cause?.idempotencyKey ?? null,
  });
  provider.webhooks.enqueue(event);
}
