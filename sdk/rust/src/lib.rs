#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]
#![deny(missing_docs)]
#![cfg_attr(
    not(test),
    deny(
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::panic,
        clippy::indexing_slicing
    )
)]

mod account_types;
mod calls;
mod charge_types;
mod client;
mod control;
mod error;
// It is generated.
#[allow(clippy::manual_range_patterns)]
mod error_kinds;
// `gen` is a word of the language.
#[path = "gen/mod.rs"]
mod generated;
mod http;
mod listing;
mod money;
mod plain;
#[cfg(feature = "relay")]
pub mod relay;
mod rest;
mod rest_types;
mod secret;
mod sequence;
mod services;
mod watch;
mod words;

pub use account_types::*;
pub use calls::{Call, Mutation};
pub use charge_types::*;
pub use client::{Client, ClientBuilder};
pub use error::{Code, Error, Failure, FieldViolation};
pub use error_kinds::{Kind, reason};
pub use generated::types::*;
pub use listing::{Listing, Page, Pages};
pub use money::{Amount, Micros};
pub use rest_types::*;
pub use secret::Secret;
pub use services::*;
pub use watch::{Events, WatchedEvent};
