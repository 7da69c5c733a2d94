//! What a client can do, one file for each service.

mod alerts;
mod audit;
mod billing;
mod budgets;
mod device_credentials;
mod keys;
mod mail;
mod moderation;
mod participants;
mod rates;
mod rooms;
mod tokens;
mod usage;
mod watchdogs;
mod webhooks;

pub use alerts::Alerts;
pub use audit::Audit;
pub use billing::Billing;
pub use budgets::Budgets;
pub use device_credentials::{CreatedCredential, DeviceCredentials, RotatedCredential};
pub use keys::Keys;
pub use mail::Mail;
pub use moderation::{Banned, ClosedRoom, Moderated, Moderation};
pub use participants::Participants;
pub use rates::Rates;
pub use rooms::{ListedEvents, Rooms};
pub use tokens::Tokens;
pub use usage::Usage;
pub use watchdogs::{CreateWatchdog, UpdateWatchdog, Watchdogs};
pub use webhooks::{ResentEvents, Webhooks};

use std::time::Duration;

use crate::error::Error;

/// Fails for a length that is not in whole milliseconds, which the contract does not allow.
fn whole_millis(field: &str, length: Option<Duration>) -> Result<(), Error> {
    match length {
        Some(length) if length.subsec_nanos() % 1_000_000 != 0 => {
            Err(Error::invalid(field, "must be in whole milliseconds"))
        }
        _ => Ok(()),
    }
}

/// A service: its struct, which clones cheaply.
macro_rules! service {
    ($(#[$meta:meta])* $name:ident) => {
        $(#[$meta])*
        #[derive(Clone)]
        pub struct $name {
            inner: std::sync::Arc<crate::inner::Inner>,
        }

        impl $name {
            pub(crate) fn new(inner: std::sync::Arc<crate::inner::Inner>) -> Self {
                Self { inner }
            }
        }

        impl std::fmt::Debug for $name {
            fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                to.debug_struct(stringify!($name)).finish_non_exhaustive()
            }
        }
    };
}

use service;
