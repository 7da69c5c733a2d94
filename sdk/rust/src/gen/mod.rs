//! Made out of the contract by `generate`, except for this file; and `rest.rs` and `event_data.rs`, which
//! `scripts/make-rest-structs.ts` makes out of the description of the REST interface and the schemas of events.

// Its comments and fields are those of the schemas.
#[allow(clippy::doc_markdown, clippy::struct_excessive_bools)]
pub(crate) mod event_data;
pub(crate) mod methods;
// Its comments are those of the description.
#[allow(clippy::doc_markdown, clippy::struct_excessive_bools)]
pub(crate) mod rest;
#[allow(dead_code, unreachable_pub, clippy::pedantic)]
pub(crate) mod rpc;
// Its comments and fields are those of the contract.
#[allow(clippy::doc_markdown, clippy::struct_excessive_bools)]
pub mod types;
#[allow(dead_code, unreachable_pub, clippy::pedantic)]
pub(crate) mod wire;
