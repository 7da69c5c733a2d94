//! Tests of the crate against servers that answer by a script. The conformance suite of the project runs it
//! against the service.
#![allow(missing_docs, clippy::pedantic)]

mod api;
mod calls;
mod charges;
mod contract;
#[path = "../examples/conformance/vectors.rs"]
mod decide;
mod errors;
mod feed;
mod mistakes;
mod networks;
mod outward;
mod pages;
#[path = "../examples/conformance/statement_vectors.rs"]
mod statement_vectors;
mod support;
mod tasks;
#[cfg(unix)]
mod usage;
mod vectors;
mod watch;
#[path = "../examples/conformance/webhook_vectors.rs"]
mod webhook_vectors;

/// What the vectors of the driver need from their program.
#[derive(Debug)]
pub struct Ended(#[allow(dead_code)] String);

impl From<boxoffice::Error> for Ended {
    fn from(error: boxoffice::Error) -> Self {
        Self(error.to_string())
    }
}

impl From<serde_json::Error> for Ended {
    fn from(error: serde_json::Error) -> Self {
        Self(error.to_string())
    }
}

pub fn crash(message: &str) -> Ended {
    Ended(message.to_owned())
}

/// A file of the repository.
pub fn file(path: &str) -> String {
    let path = format!("{}/../../{path}", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
}
