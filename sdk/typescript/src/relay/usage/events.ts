/** What the reporter tells beside its answers: for logs, metrics and alarms. No event carries a key. */

/**
 * `false`: admit nobody new; those who are in stay, and are reported. `unknown`: no answer came since the
 * start. While the service cannot be reached, the last value stays.
 */
export type Admitted = boolean | 'unknown';

/** Why an attempt to send is repeated. */
export type RetryReason = 'network' | 'timeout' | 'server_error' | 'rate_limited' | 'unexpected_answer';

/** What happened, as `onEvent` hears it; `type` tells which. */
export type UsageEvent =
  /** Obey this: `false` means no new participants until it is `true` again. */
  | { readonly type: 'admitted_changed'; readonly admitted: Admitted; readonly before: Admitted }
  /** A batch was answered with 200. `unbilled` records are those of a tenant exempt from charging. */
  | {
      readonly type: 'batch_accepted';
      readonly records: number;
      readonly charged: number;
      readonly duplicates: number;
      readonly unbilled: number;
    }
  /** The three counts do not add up to what was sent; the segment stays on disk as `file`. */
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
  /** 401: nothing is sent until there is another key, or a minute has passed. Records are kept. */
  | { readonly type: 'key_refused'; readonly retryMs: number }
  /** The source of the key failed. Records are kept. */
  | { readonly type: 'key_unreadable'; readonly cause: unknown; readonly retryMs: number }
  /** The service refuses this record for good: it is in `file` now, with the reason. */
  | {
      readonly type: 'record_quarantined';
      readonly id: string;
      readonly message: string;
      readonly file: string;
    }
  /** An earlier start left records; they are sent first. `tornBytes` were being written when it ended. */
  | {
      readonly type: 'spool_recovered';
      readonly segments: number;
      readonly records: number;
      readonly tornBytes: number;
    }
  /** Bytes of a segment are no longer what was written. Its sound records are sent; the file stays. */
  | {
      readonly type: 'segment_corrupt';
      readonly file: string;
      readonly offset: number;
      readonly bytes: number;
    }
  /** A segment cannot be read or put away now; it stays on disk and is tried again at the next start. */
  | { readonly type: 'segment_failed'; readonly file: string; readonly cause: unknown }
  /** An interval of a session could not be stored. It is kept in memory and tried again. */
  | { readonly type: 'interval_not_stored'; readonly sessionId: string; readonly cause: unknown };

export type Emit = (event: UsageEvent) => void;

/** A listener that throws does so as an uncaught error of its own, not in the middle of our work. */
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
