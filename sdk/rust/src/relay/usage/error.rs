//! Errors of the reporter.

use std::fmt;
use std::io;
use std::sync::Arc;

/// Why the reporter could not be opened, or did not accept usage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum UsageErrorCode {
    /// The reporter cannot be opened with these options.
    InvalidOptions,
    /// The usage breaks a rule of the service; nothing was stored.
    InvalidUsage,
    /// Another reporter, possibly in another process, uses this folder.
    SpoolInUse,
    /// The disk failed. Nothing of this call is stored; all earlier calls are.
    SpoolFailed,
    /// A failed write could not be taken back, so nothing more is accepted until the next start.
    SpoolBroken,
    /// The source of the relay key failed, or returned something that is not a key.
    KeyUnreadable,
    /// The reporter is closed, or the session has ended.
    Closed,
}

impl UsageErrorCode {
    /// The code, such as `spool_in_use`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::InvalidOptions => "invalid_options",
            Self::InvalidUsage => "invalid_usage",
            Self::SpoolInUse => "spool_in_use",
            Self::SpoolFailed => "spool_failed",
            Self::SpoolBroken => "spool_broken",
            Self::KeyUnreadable => "key_unreadable",
            Self::Closed => "closed",
        }
    }
}

/// An error of the reporter.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct UsageError {
    /// Why.
    pub code: UsageErrorCode,
    /// For a person. It never contains the key.
    pub message: String,
    cause: Option<Arc<io::Error>>,
}

impl UsageError {
    pub(super) fn new(code: UsageErrorCode, message: impl Into<String>) -> Self {
        let message = message.into();
        Self {
            code,
            message,
            cause: None,
        }
    }

    pub(super) fn because(
        code: UsageErrorCode,
        message: impl Into<String>,
        cause: io::Error,
    ) -> Self {
        Self {
            cause: Some(Arc::new(cause)),
            ..Self::new(code, message)
        }
    }

    pub(super) fn store_failed(cause: io::Error) -> Self {
        Self::because(
            UsageErrorCode::SpoolFailed,
            "usage could not be stored",
            cause,
        )
    }

    pub(super) fn closed() -> Self {
        Self::new(UsageErrorCode::Closed, "the reporter is closed")
    }
}

/// The message with its code, and the error of the system if there is one.
impl fmt::Display for UsageError {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(to, "{} ({})", self.message, self.code.as_str())?;
        match &self.cause {
            Some(cause) => write!(to, ": {cause}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for UsageError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        let cause = self.cause.as_deref()?;
        Some(cause)
    }
}
