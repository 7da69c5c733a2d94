/**
 * When a delivery that failed is tried again.
 *
 * Source: the recommended schedule of Standard Webhooks, and two more tries within a minute. All attempts together take about three days, so the event is
 * still kept at the last one.
 */
import type { Sent } from './send-message.ts';

export interface RetrySchedule {
  /** Seconds to wait after the first failure, the second one, and so on. There is one attempt more than waits. */
  readonly waitSeconds: readonly number[];
  /** Further waits after the first one, for a webhook that has accepted an event before. */
  readonly quickSeconds: readonly number[];
  /** A wait grows by up to this part of it at random, so that receivers are not called all at once. */
  readonly jitter: number;
}

const MINUTE = 60;
const HOUR = 3_600;

export const RETRY_SCHEDULE: RetrySchedule = {
  waitSeconds: [5, 5 * MINUTE, 30 * MINUTE, 2 * HOUR, 5 * HOUR, 10 * HOUR, 14 * HOUR, 20 * HOUR, 24 * HOUR],
  quickSeconds: [15, 45],
  jitter: 0.1,
};

/**
 * The schedule of a webhook. One that has accepted an event before is likely to be back soon, after a restart for
 * instance, so it is tried more often at first.
 */
export function scheduleOf(schedule: RetrySchedule, hasAccepted: boolean): RetrySchedule {
  if (!hasAccepted) return schedule;
  const { waitSeconds, quickSeconds } = schedule;
  return { ...schedule, waitSeconds: [waitSeconds[0]!, ...quickSeconds, ...waitSeconds.slice(1)] };
}

/** A receiver that answers with this status wants no more: nothing is tried again. */
export const GONE = 410;

/** A receiver may ask for a longer wait, up to this. */
const RETRY_AFTER_SECONDS_MAX = 24 * HOUR;

/** How long to wait after this many failures in a row; `undefined`: that was the last attempt. */
export function retryWaitSeconds(
  { waitSeconds, jitter }: RetrySchedule,
  failures: number,
  {
    retryAfterSeconds = 0,
    random = Math.random(),
  }: { readonly retryAfterSeconds?: number; readonly random?: number } = {},
): number | undefined {
  const wait = waitSeconds[failures - 1];
  if (wait === undefined) return undefined;
  return Math.max(wait * (1 + jitter * random), Math.min(retryAfterSeconds, RETRY_AFTER_SECONDS_MAX));
}

/** How long to wait after this attempt, which failed; `undefined`: it was the last one, or the receiver wants no more. */
export function waitAfter(schedule: RetrySchedule, { delivery, outcome }: Sent): number | undefined {
  if (delivery.status === GONE) return undefined;
  const retryAfterSeconds = outcome.kind === 'answered' ? outcome.retryAfterSeconds : undefined;
  return retryWaitSeconds(schedule, delivery.attempt, {
    ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
  });
}

/** Failures of a webhook in a row after which it gets one attempt at a time, with rests that double. */
export const RESTS_AFTER = 5;
const REST_SECONDS_MAX = 5 * MINUTE;

/** Where each event is tried again by itself, this keeps a receiver that is away from failing them all. */
export function restSeconds({ waitSeconds }: RetrySchedule, failures: number): number {
  return Math.min(waitSeconds[0]! * 2 ** Math.max(0, failures - RESTS_AFTER), REST_SECONDS_MAX);
}
