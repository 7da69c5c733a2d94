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
mod alert_types;
mod audit_types;
mod calls;
mod charge_types;
mod client;
mod control;
mod error;
// It is generated.
#[allow(clippy::manual_range_patterns)]
mod error_kinds;
mod follow;
// `gen` is a word of the language.
#[path = "gen/mod.rs"]
mod generated;
mod http;
mod inner;
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
mod webhook_signature;
mod webhook_types;
mod words;

pub use account_types::*;
pub use alert_types::*;
pub use audit_types::*;
pub use calls::{Call, Mutation};
pub use charge_types::*;
pub use client::{Client, ClientBuilder};
pub use error::{Code, Error, Failure, FieldViolation};
pub use error_kinds::{Kind, reason};
pub use follow::FollowedEvents;
pub use generated::types::*;
pub use listing::{Listing, Page, Pages};
pub use money::{Amount, Micros};
pub use rest_types::*;
pub use secret::Secret;
pub use services::*;
pub use watch::{Events, WatchedEvent};
pub use webhook_signature::{WebhookRefusal, verify_webhook, verify_webhook_at};
pub use webhook_types::*;
