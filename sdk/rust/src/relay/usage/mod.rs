//! Reports what a relay carried: counts the usage of participants, writes each record to disk first, and sends batches
//! until the service has confirmed them.
//!
//! [`UsageReporter::builder`] starts one. It needs a local disk of Linux or macOS, because it syncs folders and locks
//! them by a socket. `docs/usage.md` explains what a record costs, and what answers mean.

mod batches;
mod error;
mod event;
mod folder_lock;
mod post;
mod record;
mod reporter;
mod segment;
mod sender;
mod session;
mod spool;

pub use error::{UsageError, UsageErrorCode};
pub use event::{RetryReason, UsageEvent};
pub use record::{MeasuredParticipant, ParticipantUsage, tier_of};
pub use reporter::{Pending, UsageReporter, UsageReporterBuilder};
pub use session::UsageSession;
