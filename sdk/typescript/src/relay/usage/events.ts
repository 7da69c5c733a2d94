/** Events of the reporter for logs, metrics and alarms. No event contains a key. */

/**
 * `false`: admit no new participants; present ones stay, and are reported. `unknown`: no answer since the
 * start. While the service is unreachable, the last value stays.
 */
export type Admitted = boolean | 'unknown';

/** Why an attempt to send is repeated. */
export type RetryReason = 'network' | 'timeout' | 'server_error' | 'rate_limited' | 'unexpected_answer';

/** Events for `onEvent`; `type` distinguishes them. */
export type UsageEvent =
  /** Required action: `false` means no new participants until it is `true` again. */
  | { readonly type: 'admitted_changed'; readonly admitted: Admitted; readonly before: Admitted }
  /** A batch was answered with 200. `unbilled` records belong to a tenant that is exempt from charging. */
  | {
      readonly type: 'batch_accepted';
      readonly records: number;
      readonly charged: number;
      readonly duplicates: number;
      readonly unbilled: number;
    }
  /** The three counts do not add up to the number sent; the segment stays on disk as `file`. */
  | {
      readonly type: 'counts_differ';
      readonly records: number;
      readonly charged: number;
      readonly duplicates: number;
      readonly unbilled: number;
      readonly file: string;
    }
  /** The same request is sent again in `retryMs`. `attempt` counts failures in a row, from 1. */
  | {
      readonly type: 'send_failed';
      readonly reason: RetryReason;
      readonly status: number | undefined;
      readonly cause: unknown;
      readonly attempt: number;
      readonly retryMs: number;
    }
  /** 401: nothing is sent until the key has changed, or for a minute. Records are kept. */
  | { readonly type: 'key_refused'; readonly retryMs: number }
  /** The key source failed. Records are kept. */
  | { readonly type: 'key_unreadable'; readonly cause: unknown; readonly retryMs: number }
  /** The service refuses this record permanently: it is now in `file`, with the reason. */
  | {
      readonly type: 'record_quarantined';
      readonly id: string;
      readonly message: string;
      readonly file: string;
    }
  /** Records of an earlier start are on disk and sent first. `tornBytes` belong to an incomplete write. */
  | {
      readonly type: 'spool_recovered';
      readonly segments: number;
      readonly records: number;
      readonly tornBytes: number;
    }
  /** A segment has damaged bytes. Its valid records are sent; the file stays. */
  | {
      readonly type: 'segment_corrupt';
      readonly file: string;
      readonly offset: number;
      readonly bytes: number;
    }
  /** A segment cannot be read or removed now. It stays on disk and is retried at the next start. */
  | { readonly type: 'segment_failed'; readonly file: string; readonly cause: unknown }
  /** An interval of a session could not be stored. It is kept in memory and retried. */
  | { readonly type: 'interval_not_stored'; readonly sessionId: string; readonly cause: unknown };

export type Emit = (event: UsageEvent) => void;

/** Errors of a listener become uncaught errors, so that they do not interrupt the reporter. */
export function emitTo(listener: Emit | undefined): Emit {
  return (event) => {
    try {
      listener?.(event);
    } catch (error) {
      queueMicrotask(() => {
        throw error;
      });
    }
  };
}
