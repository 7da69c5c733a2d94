//! What happens to a reporter, for logs, metrics and alarms.

use std::fmt;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use super::error::UsageError;
use crate::relay::feed::tell;

/// Why an attempt to send is repeated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum RetryReason {
    /// The connection failed, or broke before the answer was whole.
    Network,
    /// There was no answer within 30 seconds.
    Timeout,
    /// The status was 500 or above.
    ServerError,
    /// The status was 429.
    RateLimited,
    /// The answer is not one of the service.
    UnexpectedAnswer,
}

/// An event of the reporter. None contains a key.
#[derive(Debug)]
#[non_exhaustive]
pub enum UsageEvent {
    /// It requires action: with `false`, admit no new participants until it is `true` again.
    AdmittedChanged {
        /// What holds from now on.
        admitted: bool,
        /// What held until now; `None` before the first answer.
        before: Option<bool>,
    },
    /// A batch was answered with 200.
    BatchAccepted {
        /// Records in the batch.
        records: u64,
        /// Those that were charged.
        charged: u64,
        /// Those that were charged before.
        duplicates: u64,
        /// Those of a tenant that is exempt from charging.
        unbilled: u64,
    },
    /// The three counts of an answer do not add up to the number sent. The segment stays on disk as `file`.
    CountsDiffer {
        /// Records in the batch.
        records: u64,
        /// As the service says.
        charged: u64,
        /// As the service says.
        duplicates: u64,
        /// As the service says.
        unbilled: u64,
        /// The segment.
        file: PathBuf,
    },
    /// A request is sent again, unchanged, after `retry`.
    SendFailed {
        /// Why.
        reason: RetryReason,
        /// The HTTP status; `None` if there was no answer.
        status: Option<u16>,
        /// What failed, if there was no answer.
        cause: String,
        /// Counts failures in a row, from 1.
        attempt: u32,
        /// The time until the next attempt.
        retry: Duration,
    },
    /// A 401: nothing is sent until the key has changed, or for a minute. Records are kept.
    KeyRefused {
        /// The time until the next attempt.
        retry: Duration,
    },
    /// The key could not be read. Records are kept.
    KeyFailed {
        /// Why, with the code `KeyUnreadable`.
        cause: UsageError,
        /// The time until the next attempt.
        retry: Duration,
    },
    /// The service refuses a record permanently: it is now in `file`, with the reason.
    RecordQuarantined {
        /// Of the record.
        id: String,
        /// The service's reason.
        message: String,
        /// Where it is now.
        file: PathBuf,
    },
    /// Records of an earlier start are on disk. They are sent first.
    SpoolRecovered {
        /// The files that hold them.
        segments: usize,
        /// Records in these files.
        records: usize,
        /// Bytes of an incomplete write; they were never acknowledged.
        torn_bytes: usize,
    },
    /// A segment has damaged bytes. Its valid records are sent; the file stays.
    SegmentCorrupt {
        /// The segment.
        file: PathBuf,
        /// Where the damage begins.
        offset: usize,
        /// How long it is.
        bytes: usize,
    },
    /// A segment cannot be read or removed now. Reading is tried again each minute, and removal at the next start.
    SegmentFailed {
        /// The segment.
        file: PathBuf,
        /// The error of the file system.
        cause: io::Error,
    },
    /// An interval of a session could not be stored. It is kept in memory, and retried.
    IntervalNotStored {
        /// The session.
        session_id: String,
        /// The error of the spool.
        cause: UsageError,
    },
    /// The disk did not take what running sessions have used. It is in memory, and tried again within a second; a crash
    /// before that would lose it.
    CheckpointFailed {
        /// The error of the file system.
        cause: io::Error,
    },
}

impl UsageEvent {
    /// A stable name, such as `batch_accepted`.
    #[must_use]
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::AdmittedChanged { .. } => "admitted_changed",
            Self::BatchAccepted { .. } => "batch_accepted",
            Self::CountsDiffer { .. } => "counts_differ",
            Self::SendFailed { .. } => "send_failed",
            Self::KeyRefused { .. } => "key_refused",
            Self::KeyFailed { .. } => "key_unreadable",
            Self::RecordQuarantined { .. } => "record_quarantined",
            Self::SpoolRecovered { .. } => "spool_recovered",
            Self::SegmentCorrupt { .. } => "segment_corrupt",
            Self::SegmentFailed { .. } => "segment_failed",
            Self::IntervalNotStored { .. } => "interval_not_stored",
            Self::CheckpointFailed { .. } => "checkpoint_failed",
        }
    }
}

/// Passes events to the listener.
#[derive(Clone)]
pub(super) struct Emit(pub(super) Arc<dyn Fn(&UsageEvent) + Send + Sync>);

impl Emit {
    #[allow(clippy::needless_pass_by_value)]
    pub(super) fn emit(&self, event: UsageEvent) {
        tell(|| (self.0)(&event));
    }
}

impl fmt::Debug for Emit {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str("Emit(..)")
    }
}
