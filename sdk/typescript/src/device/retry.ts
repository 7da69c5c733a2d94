/** Retries of temporary failures. */
import { JoinError } from './errors.ts';
import { sleep, type Timers } from './timers.ts';

const FIRST_WAIT_MS = 1_000;
const WAIT_MS_MAX = 30_000;

/**
 * Attempt until it succeeds, fails permanently, or there is no time for another attempt before `untilMs`.
 *
 * An error other than `JoinError` comes from the application's own token source, and may be temporary.
 */
export async function withRetries<T>(
  attempt: () => Promise<T>,
  options: { timers: Timers; untilMs: number; signal: AbortSignal },
): Promise<T> {
  const { timers, untilMs, signal } = options;
  for (let failures = 0; ; failures += 1) {
    try {
      return await attempt();
    } catch (error) {
      if (error instanceof JoinError && !error.retryable) throw error;
      const waitMs = waitAfter(error, failures);
      if (signal.aborted || timers.now() + waitMs >= untilMs) throw error;
      await sleep(timers, waitMs, signal);
      if (signal.aborted) throw error;
    }
  }
}

/** The server's delay plus a random part of 1, 2, 4, ... seconds, so that devices do not retry all at once. */
function waitAfter(error: unknown, failures: number): number {
  const askedSeconds = (error instanceof JoinError && error.retryAfterSeconds) || 0;
  const ceilingMs = Math.min(WAIT_MS_MAX, FIRST_WAIT_MS * 2 ** failures);
  return askedSeconds * 1000 + ceilingMs * (0.5 + Math.random() / 2);
}
