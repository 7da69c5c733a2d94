//! Whether a statement is one that the service signed.

use std::fmt;

use serde_json::Value;

use crate::generated::rest::Statement;
use crate::jws::{Jwks, Jws, has_exactly, import_keys};

/// Why a text is no statement of the service, in the order of the checks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum StatementRefusal {
    /// It is not three segments of base64url, of which the first is a JSON object.
    Malformed,
    /// Its `typ` is not `statement+jwt`.
    WrongType,
    /// Its `alg` is not `ES256`.
    WrongAlgorithm,
    /// Its header has no `kid`, or other members.
    HeaderInvalid,
    /// No public key for signatures has its `kid`.
    UnknownKey,
    /// It was altered, or signed by another key.
    BadSignature,
    /// It is signed, but is no statement of version 1.
    BadBody,
}

impl StatementRefusal {
    /// The code, such as `BAD_SIGNATURE`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Malformed => "MALFORMED",
            Self::WrongType => "WRONG_TYPE",
            Self::WrongAlgorithm => "WRONG_ALGORITHM",
            Self::HeaderInvalid => "HEADER_INVALID",
            Self::UnknownKey => "UNKNOWN_KEY",
            Self::BadSignature => "BAD_SIGNATURE",
            Self::BadBody => "BAD_BODY",
        }
    }

    /// For logs.
    #[must_use]
    pub const fn message(self) -> &'static str {
        match self {
            Self::Malformed => "it is not a compact JWS",
            Self::WrongType => "its type is not statement+jwt",
            Self::WrongAlgorithm => "its algorithm is not ES256",
            Self::HeaderInvalid => "its header must have alg, kid and typ, and nothing else",
            Self::UnknownKey => "its key is not one of the keys",
            Self::BadSignature => {
                "the signature does not fit: it was altered, or signed by another key"
            }
            Self::BadBody => "it is signed, but is no statement of version 1",
        }
    }
}

impl fmt::Display for StatementRefusal {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str(self.message())
    }
}

impl std::error::Error for StatementRefusal {}

/// The statement of `jws`, the text beside a statement of [`Billing::statement`](crate::Billing::statement), without a
/// request. `keys` are those of `/.well-known/statement-keys.json`. Use what this returns, and not the statement that lay
/// beside the signature, and compare its `iss`, `tenant` and `month` with what you expect.
///
/// It does not add up the statement: the service has, before it signed.
pub fn verify_statement(jws: &str, keys: &Jwks) -> Result<Statement, StatementRefusal> {
    let jws = Jws::parse(jws).ok_or(StatementRefusal::Malformed)?;
    if !jws.has("typ", "statement+jwt") {
        return Err(StatementRefusal::WrongType);
    }
    if !jws.has("alg", "ES256") {
        return Err(StatementRefusal::WrongAlgorithm);
    }
    if !has_exactly(&jws.header, &["typ", "alg", "kid"]) {
        return Err(StatementRefusal::HeaderInvalid);
    }
    let known = import_keys(keys);
    let kid = jws.header.get("kid").and_then(Value::as_str);
    let key = kid
        .and_then(|kid| known.get(kid))
        .ok_or(StatementRefusal::UnknownKey)?;
    let payload = jws.payload_by(key).ok_or(StatementRefusal::BadSignature)?;
    serde_json::from_slice::<Statement>(payload)
        .ok()
        .filter(is_complete)
        .ok_or(StatementRefusal::BadBody)
}

/// Members that are not there are read as empty.
fn is_complete(statement: &Statement) -> bool {
    statement.version == 1 && !statement.iss.is_empty() && !statement.month.is_empty()
}
