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
  | {
      /** Whether new participants are admitted has changed. */
      readonly type: 'admitted_changed';
      /** What holds from now on. */
      readonly admitted: Admitted;
      /** What held until now. */
      readonly before: Admitted;
    }
  /** A batch was answered with 200. `unbilled` records belong to a tenant that is exempt from charging. */
  | {
      /** A batch was charged. */
      readonly type: 'batch_accepted';
      /** Records in the batch. */
      readonly records: number;
      /** Records that were charged. */
      readonly charged: number;
      /** Records that were charged before. */
      readonly duplicates: number;
      /** Records that were accepted and not charged. */
      readonly unbilled: number;
    }
  /** The three counts do not add up to the number sent; the segment stays on disk as `file`. */
  | {
      /** The answer to a batch does not add up. */
      readonly type: 'counts_differ';
      /** Records in the batch. */
      readonly records: number;
      /** Records that were charged, as the service says. */
      readonly charged: number;
      /** Records that were charged before, as the service says. */
      readonly duplicates: number;
      /** Records that were not charged, as the service says. */
      readonly unbilled: number;
      /** The segment, which stays on disk. */
      readonly file: string;
    }
  /** The same request is sent again in `retryMs`. `attempt` counts failures in a row, from 1. */
  | {
      /** A batch was not charged, and is sent again. */
      readonly type: 'send_failed';
      /** Why not. */
      readonly reason: RetryReason;
      /** HTTP status; `undefined` if there was no answer. */
      readonly status: number | undefined;
      /** What was thrown, if anything. */
      readonly cause: unknown;
      /** Failures in a row, from 1. */
      readonly attempt: number;
      /** Milliseconds until the next attempt. */
      readonly retryMs: number;
    }
  /** 401: nothing is sent until the key has changed, or for a minute. Records are kept. */
  | {
      /** The service refused the key. */
      readonly type: 'key_refused';
      /** Milliseconds until the next attempt. */
      readonly retryMs: number;
    }
  /** The key source failed. Records are kept. */
  | {
      /** The key could not be read. */
      readonly type: 'key_unreadable';
      /** What was thrown. */
      readonly cause: unknown;
      /** Milliseconds until the next attempt. */
      readonly retryMs: number;
    }
  /** The service refuses this record permanently: it is now in `file`, with the reason. */
  | {
      /** A record was refused and put aside. */
      readonly type: 'record_quarantined';
      /** Id of the record. */
      readonly id: string;
      /** The service's reason. */
      readonly message: string;
      /** The quarantine file that holds it now. */
      readonly file: string;
    }
  /** Records of an earlier start are on disk and sent first. `tornBytes` belong to an incomplete write. */
  | {
      /** Records of an earlier start were found. */
      readonly type: 'spool_recovered';
      /** Files that hold them. */
      readonly segments: number;
      /** Records in these files. */
      readonly records: number;
      /** Bytes of a write that was cut short; they were never accepted. */
      readonly tornBytes: number;
    }
  /** A segment has damaged bytes. Its valid records are sent; the file stays. */
  | {
      /** A file on disk is damaged. */
      readonly type: 'segment_corrupt';
      /** The segment. */
      readonly file: string;
      /** Where the damage begins, in bytes. */
      readonly offset: number;
      /** How long it is. */
      readonly bytes: number;
    }
  /** A segment cannot be read or removed now. Reading is tried again each minute, and removal at the next start. */
  | {
      /** A file on disk cannot be used now. */
      readonly type: 'segment_failed';
      /** The segment. */
      readonly file: string;
      /** What was thrown. */
      readonly cause: unknown;
    }
  /** An interval of a session could not be stored. It is kept in memory and retried. */
  | {
      /** Usage of a session is not on disk yet. */
      readonly type: 'interval_not_stored';
      /** The session. */
      readonly sessionId: string;
      /** What was thrown. */
      readonly cause: unknown;
    }
  /** The disk did not take what running sessions have used. It is in memory, and tried again within a second. */
  | {
      /** A crash now would lose more than the last second of running sessions. */
      readonly type: 'checkpoint_failed';
      /** What was thrown. */
      readonly cause: unknown;
    };

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
