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

mod calls;
mod client;
mod control;
mod error;
// It is generated.
#[allow(clippy::manual_range_patterns)]
mod error_kinds;
mod event_data;
mod follow;
// `gen` is a word of the language.
#[path = "gen/mod.rs"]
mod generated;
mod http;
mod inner;
mod jws;
mod listing;
mod money;
mod plain;
#[cfg(feature = "relay")]
pub mod relay;
mod requests;
mod rest;
mod secret;
mod sequence;
mod services;
mod statement_signature;
mod watch;
mod webhook_signature;
mod words;

pub use calls::{Call, Mutation};
pub use client::{Client, ClientBuilder};
pub use error::{Code, Error, Failure, FieldViolation};
pub use error_kinds::{Kind, reason};
pub use follow::FollowedEvents;
pub use generated::event_data::*;
pub use generated::rest::*;
pub use generated::types::*;
pub use jws::Jwks;
pub use listing::{Listing, Page, Pages};
pub use money::{Amount, Micros};
pub use secret::Secret;
pub use services::*;
pub use statement_signature::{StatementRefusal, verify_statement};
pub use watch::{Events, WatchedEvent};
pub use webhook_signature::{
    WebhookRefusal, verify_webhook, verify_webhook_at, verify_webhook_events,
    verify_webhook_events_at, verify_webhook_signature,
};
