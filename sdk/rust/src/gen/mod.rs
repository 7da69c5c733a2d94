//! Made out of the contract by `generate`, except for this file.

pub(crate) mod methods;
#[allow(dead_code, unreachable_pub, clippy::pedantic)]
pub(crate) mod rpc;
// Its comments and fields are those of the contract.
#[allow(clippy::doc_markdown, clippy::struct_excessive_bools)]
pub mod types;
#[allow(dead_code, unreachable_pub, clippy::pedantic)]
pub(crate) mod wire;
