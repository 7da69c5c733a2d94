//! For relays: who may come in, decided without a request to the service.
//!
//! [`TokenVerifier`] checks a token, the device's proof and its DTLS certificate. [`RevocationFeed`] follows
//! kicks, bans, mutes and rooms that ended, and with the key of the relay, whether there is credit, and which budgets are
//! spent. `docs/tokens.md` explains the twelve checks, their order and
//! their codes.
//!
//! On Unix, `usage` reports what the relay carried, over a spool on disk.

mod address;
mod challenges;
mod event_stream;
mod feed;
mod jws;
mod proof;
mod refusal;
mod revocations;
mod signing_keys;
mod token;
mod told;
#[cfg(unix)]
pub mod usage;
mod verifier;

pub use crate::jws::Jwks;
pub use feed::{
    RevocationFeed, RevocationFeedBuilder, RevocationsError, RevocationsErrorCode, WallClock,
};
pub use refusal::{AdmissionRefused, RefusalCode, RevocationReason};
pub use revocations::{Ban, BanKind, Revocations, Subject, hash_of};
pub use token::TokenClaims;
pub use verifier::{Admission, Attempt, Participant, TokenVerifier, TokenVerifierBuilder};
