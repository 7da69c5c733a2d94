/** Time limits and retries of calls. */
import { setTimeout as wait } from 'node:timers/promises';
import { BoxofficeError, ClientClosed, timeoutError } from './errors.ts';

export interface CallOptions {
  /** Ends the call at once; it rejects with the signal's reason. A request that was sent may have taken effect. */
  readonly signal?: AbortSignal | undefined;
  /** Time limit of the call with all its attempts. Default: that of the client. */
  readonly timeoutMs?: number | undefined;
  /** Time limit of each attempt. Default: that of the client. */
  readonly attemptTimeoutMs?: number | undefined;
}

export interface MutationOptions extends CallOptions {
  /**
   * 1 to 128 ASCII characters without spaces; the control plane takes spaces too, and REST up to 255. Within 24 hours, the same key returns the first answer without
   * a second effect. Default: a random key for each call, the same for all its attempts.
   */
  readonly idempotencyKey?: string | undefined;
}

/** The client's defaults for all calls. */
export interface Limits {
  readonly timeoutMs: number;
  readonly attemptTimeoutMs: number;
  /** Attempts after the first. */
  readonly retries: number;
  /** Aborts when the client is closed. */
  readonly closed?: AbortSignal | undefined;
}

/** For what follows events: a signal that also aborts when the client is closed. */
export function untilClosed(signal: AbortSignal | undefined, { closed }: Limits): AbortSignal | undefined {
  return signal && closed ? AbortSignal.any([signal, closed]) : (signal ?? closed);
}

export const DEFAULT_LIMITS: Limits = { timeoutMs: 30_000, attemptTimeoutMs: 10_000, retries: 4 };

const FIRST_WAIT_MS = 500;
const WAIT_MS_MAX = 10_000;

/** Exponential with full jitter, and at least what the service asks for. */
export function waitAfter(failures: number, error: unknown): number {
  const ceilingMs = Math.min(WAIT_MS_MAX, FIRST_WAIT_MS * 2 ** failures);
  const atLeastMs = error instanceof BoxofficeError ? (error.retryAfterMs ?? 0) : 0;
  return atLeastMs + Math.random() * ceilingMs;
}

/**
 * Attempt until it succeeds, fails permanently, or there is no time for another attempt.
 *
 * An attempt must reject with the reason of its signal when that is aborted.
 */
export async function attemptInTime<T>(
  attempt: (signal: AbortSignal) => Promise<T>,
  options: CallOptions & { readonly limits: Limits; mayRetry(error: BoxofficeError): boolean },
): Promise<T> {
  const { signal, limits, mayRetry } = options;
  const { timeoutMs = limits.timeoutMs, attemptTimeoutMs = limits.attemptTimeoutMs } = options;
  limits.closed?.throwIfAborted();
  const endsAt = performance.now() + timeoutMs;
  let failure: BoxofficeError | undefined;
  for (let failures = 0; ; failures += 1) {
    signal?.throwIfAborted();
    // A timer may fire slightly early, with almost no time left.
    const leftMs = Math.max(endsAt - performance.now(), 1);
    try {
      return await attemptOnce(attempt, signal, Math.min(attemptTimeoutMs, leftMs));
    } catch (error) {
      signal?.throwIfAborted();
      // `ClientClosed` would say that nothing was sent.
      if (failure && error instanceof ClientClosed) throw failure;
      if (!(error instanceof BoxofficeError) || !mayRetry(error) || failures >= limits.retries) throw error;
      const waitMs = waitAfter(failures, error);
      if (performance.now() + waitMs >= endsAt) throw error;
      failure = error;
      await sleep(waitMs, signal);
    }
  }
}

async function attemptOnce<T>(
  attempt: (signal: AbortSignal) => Promise<T>,
  signal: AbortSignal | undefined,
  timeoutMs: number,
): Promise<T> {
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(timeoutError()), timeoutMs);
  try {
    return await attempt(signal ? AbortSignal.any([signal, late.signal]) : late.signal);
  } finally {
    clearTimeout(timer);
  }
}

/** Rejects with the signal's reason. */
export async function sleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
  try {
    await wait(ms, undefined, signal ? { signal } : {});
  } catch (error) {
    signal?.throwIfAborted();
    throw error;
  }
}
