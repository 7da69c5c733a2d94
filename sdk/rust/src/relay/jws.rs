//! A strict parser for compact JWS, the format of tokens, proofs and snapshots.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::signature::{ECDSA_P256_SHA256_FIXED, UnparsedPublicKey};
use serde_json::{Map, Value};

use super::refusal::RefusalCode;

pub(crate) type JsonObject = Map<String, Value>;

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

/// A JWS that has the right form, and whose signature has not been checked.
pub(crate) struct Jws<'a> {
    pub(crate) header: JsonObject,
    /// What is signed.
    input: &'a str,
    payload: Vec<u8>,
    signature: Vec<u8>,
}

impl<'a> Jws<'a> {
    /// `None` if there are not three canonical segments, or the first is no JSON object.
    pub(crate) fn parse(text: &'a str) -> Option<Self> {
        let (input, signature) = text.rsplit_once('.')?;
        let (header, payload) = input.split_once('.')?;
        let [header, payload, signature] = [decode(header)?, decode(payload)?, decode(signature)?];
        Some(Self {
            header: parse_object(&header)?,
            input,
            payload,
            signature,
        })
    }

    /// The claims, if the signature is right and they are a JSON object.
    pub(crate) fn verify(&self, key: &PublicKey) -> Result<JsonObject, Unverified> {
        UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, &key.point)
            .verify(self.input.as_bytes(), &self.signature)
            .map_err(|_| Unverified::BadSignature)?;
        parse_object(&self.payload).ok_or(Unverified::Malformed)
    }
}

pub(crate) enum Unverified {
    BadSignature,
    Malformed,
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
    if jws.header.get("typ").and_then(Value::as_str) != Some(typ) {
        return Err(wrong_type);
    }
    if jws.header.get("alg").and_then(Value::as_str) != Some("ES256") {
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
    jws.verify(key).map_err(|error| match (error, what) {
        (Unverified::Malformed, _) => what.malformed(),
        (Unverified::BadSignature, What::Token) => RefusalCode::TokenBadSignature,
        (Unverified::BadSignature, What::Proof) => RefusalCode::ProofBadSignature,
    })
}

/// A public P-256 key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PublicKey {
    /// 4, x and y.
    point: Vec<u8>,
}

impl PublicKey {
    /// From the coordinates of a JWK; `None` if they are not a point of the curve.
    pub(crate) fn import(jwk: &JsonObject) -> Option<Self> {
        let text = |name: &str| jwk.get(name).and_then(Value::as_str);
        if text("kty") != Some("EC") || text("crv") != Some("P-256") {
            return None;
        }
        let (x, y) = (decode(text("x")?)?, decode(text("y")?)?);
        if x.len() != 32 || y.len() != 32 {
            return None;
        }
        let point = [&[4], x.as_slice(), y.as_slice()].concat();
        is_on_curve(&point).then_some(Self { point })
    }
}

/// ring checks a point when it agrees on a secret with its owner, so that is what this does.
fn is_on_curve(point: &[u8]) -> bool {
    use ring::agreement::{ECDH_P256, EphemeralPrivateKey, UnparsedPublicKey, agree_ephemeral};
    let random = ring::rand::SystemRandom::new();
    let Ok(own) = EphemeralPrivateKey::generate(&ECDH_P256, &random) else {
        return false;
    };
    agree_ephemeral(own, &UnparsedPublicKey::new(&ECDH_P256, point), |_| ()).is_ok()
}

pub(crate) fn has_exactly(object: &JsonObject, members: &[&str]) -> bool {
    object.len() == members.len() && members.iter().all(|name| object.contains_key(*name))
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

/// Only the canonical encoding: the decoder refuses padding and unused bits that are set. Otherwise there
/// would be several texts for one signature.
fn decode(segment: &str) -> Option<Vec<u8>> {
    URL_SAFE_NO_PAD.decode(segment).ok()
}

fn parse_object(bytes: &[u8]) -> Option<JsonObject> {
    serde_json::from_slice(bytes).ok()
}
