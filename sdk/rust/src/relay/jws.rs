//! What tokens, proofs and snapshots have in common as JWS, beside their form.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::Value;

use super::refusal::RefusalCode;
use crate::jws::{JsonObject, Jws, PublicKey, has_exactly, parse_object};

const JWS_BYTES_MAX: usize = 4096;
/// The largest whole number that every JSON parser reads exactly.
const WHOLE_MAX: u64 = (1 << 53) - 1;

/// Which of the two is read, for the codes of refusals.
#[derive(Clone, Copy)]
pub(crate) enum What {
    Token,
    Proof,
}

impl What {
    fn malformed(self) -> RefusalCode {
        match self {
            Self::Token => RefusalCode::TokenMalformed,
            Self::Proof => RefusalCode::ProofMalformed,
        }
    }
}

/// The form, the type and the algorithm. The header must have exactly `members`.
pub(crate) fn read<'a>(
    text: &'a str,
    what: What,
    typ: &str,
    members: [&str; 3],
) -> Result<Jws<'a>, RefusalCode> {
    let [too_large, wrong_type, wrong_algorithm, invalid] = match what {
        What::Token => [
            RefusalCode::TokenTooLarge,
            RefusalCode::TokenWrongType,
            RefusalCode::TokenWrongAlgorithm,
            RefusalCode::TokenHeaderInvalid,
        ],
        What::Proof => [
            RefusalCode::ProofTooLarge,
            RefusalCode::ProofWrongType,
            RefusalCode::ProofWrongAlgorithm,
            RefusalCode::ProofHeaderInvalid,
        ],
    };
    if text.len() > JWS_BYTES_MAX {
        return Err(too_large);
    }
    let jws = Jws::parse(text).ok_or_else(|| what.malformed())?;
    if !jws.has("typ", typ) {
        return Err(wrong_type);
    }
    if !jws.has("alg", "ES256") {
        return Err(wrong_algorithm);
    }
    if has_exactly(&jws.header, &members) {
        Ok(jws)
    } else {
        Err(invalid)
    }
}

/// The claims, if the signature is right.
pub(crate) fn read_verified(
    jws: &Jws<'_>,
    key: &PublicKey,
    what: What,
) -> Result<JsonObject, RefusalCode> {
    let payload = jws.payload_by(key).ok_or(match what {
        What::Token => RefusalCode::TokenBadSignature,
        What::Proof => RefusalCode::ProofBadSignature,
    })?;
    parse_object(payload).ok_or_else(|| what.malformed())
}

/// A whole number that is not negative. `1.0` is one, as in JavaScript.
pub(crate) fn whole(value: &Value) -> Option<u64> {
    integer(value).and_then(|number| u64::try_from(number).ok())
}

/// A whole number.
pub(crate) fn integer(value: &Value) -> Option<i64> {
    if let Some(number) = value.as_i64() {
        return (number.unsigned_abs() <= WHOLE_MAX).then_some(number);
    }
    let number = value.as_f64()?;
    // The bound makes the conversion exact.
    #[allow(clippy::cast_possible_truncation, clippy::cast_precision_loss)]
    let is_whole = number.fract() == 0.0 && number.abs() <= WHOLE_MAX as f64;
    #[allow(clippy::cast_possible_truncation)]
    is_whole.then_some(number as i64)
}

pub(crate) fn encode(bytes: &[u8]) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}
