/** One attempt at `POST /v1/usage`, and the meaning of its answer. Source: specification 4.12 and 7.1. */
import type { Clock } from './clock.ts';
import type { RetryReason } from './events.ts';

const ANSWER_MS_MAX = 30_000;
/** A longer `Retry-After` is cut to this. */
const RETRY_AFTER_MS_MAX = 3_600_000;

export interface Accepted {
  readonly kind: 'accepted';
  readonly charged: number;
  readonly duplicates: number;
  readonly unbilled: number;
  readonly admitted: boolean;
}

/** The service will never accept this batch, and charged none of it. */
export interface Refused {
  readonly kind: 'refused';
  readonly status: number;
  readonly message: string;
}

export interface KeyRefused {
  readonly kind: 'key_refused';
}

/** Send the same batch again; `afterMs` is the server's minimum wait. */
export interface Retry {
  readonly kind: 'retry';
  readonly reason: RetryReason;
  readonly status: number | undefined;
  readonly cause: unknown;
  readonly afterMs: number;
}

export type Outcome = Accepted | Refused | KeyRefused | Retry;

export interface Post {
  readonly url: string;
  readonly key: string;
  readonly body: string;
  readonly fetch: typeof globalThis.fetch;
  readonly clock: Clock;
  /** Ends the attempt. The outcome is then that of a lost connection. */
  readonly signal: AbortSignal;
}

export async function postUsage({ url, key, body, fetch, clock, signal }: Post): Promise<Outcome> {
  const ending = new AbortController();
  let timedOut = false;
  const cancelTimeout = clock.after(ANSWER_MS_MAX, () => {
    timedOut = true;
    ending.abort();
  });
  const end = () => ending.abort();
  signal.addEventListener('abort', end);
  try {
    const answer = await fetch(url, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body,
      redirect: 'manual',
      signal: ending.signal,
    });
    // An answer only counts if it is complete.
    return interpret(answer, await answer.text(), clock);
  } catch (cause) {
    return retry(timedOut ? 'timeout' : 'network', { cause });
  } finally {
    cancelTimeout();
    signal.removeEventListener('abort', end);
  }
}

function interpret(answer: Response, text: string, clock: Clock): Outcome {
  const { status } = answer;
  const json = parseObject(text);
  if (status === 200) return parseAccepted(json) ?? retry('unexpected_answer', { status });
  if (status === 401) return { kind: 'key_refused' };
  // Only the service itself may reject a record. Answers of proxies in between do not count.
  if (status === 400 && typeof json?.error === 'string')
    return { kind: 'refused', status, message: json.error };
  if (status === 413) return { kind: 'refused', status, message: 'the body is too large' };

  const afterMs = parseRetryAfter(answer.headers.get('retry-after'), clock);
  if (status === 429) return retry('rate_limited', { status, afterMs });
  if (status >= 500) return retry('server_error', { status, afterMs });
  return retry('unexpected_answer', { status, afterMs });
}

function retry(
  reason: RetryReason,
  { status, cause, afterMs = 0 }: { status?: number; cause?: unknown; afterMs?: number },
): Retry {
  return { kind: 'retry', reason, status, cause, afterMs };
}

function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

function parseAccepted(json: Record<string, unknown> | undefined): Accepted | undefined {
  const { charged, duplicates, unbilled, admitted } = json ?? {};
  if (!isCount(charged) || !isCount(duplicates) || !isCount(unbilled)) return undefined;
  if (typeof admitted !== 'boolean') return undefined;
  return { kind: 'accepted', charged, duplicates, unbilled, admitted };
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

/** Milliseconds, from seconds or a date. Source: RFC 9110, 10.2.3. */
export function parseRetryAfter(header: string | null, clock: Clock): number {
  if (header === null) return 0;
  const ms = /^\d+$/.test(header) ? Number(header) * 1000 : Date.parse(header) - clock.wallNow();
  return Number.isNaN(ms) ? 0 : Math.min(Math.max(ms, 0), RETRY_AFTER_MS_MAX);
}
