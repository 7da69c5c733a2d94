/**
 * When a delivery that failed is tried again.
 *
 * Source: the recommended schedule of Standard Webhooks. All attempts together take about three days, so the event is
 * still kept at the last one.
 */

export interface RetrySchedule {
  /** Seconds to wait after the first failure, the second one, and so on. There is one attempt more than waits. */
  readonly waitSeconds: readonly number[];
  /** A wait grows by up to this part of it at random, so that receivers are not called all at once. */
  readonly jitter: number;
}

const MINUTE = 60;
const HOUR = 3_600;

export const RETRY_SCHEDULE: RetrySchedule = {
  waitSeconds: [5, 5 * MINUTE, 30 * MINUTE, 2 * HOUR, 5 * HOUR, 10 * HOUR, 14 * HOUR, 20 * HOUR, 24 * HOUR],
  jitter: 0.1,
};

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
