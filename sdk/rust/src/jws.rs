//! A strict parser for compact JWS that are signed with ES256: tokens, proofs, snapshots and statements.

use std::collections::HashMap;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::signature::{ECDSA_P256_SHA256_FIXED, UnparsedPublicKey};
use serde::Deserialize;
use serde_json::{Map, Value};

pub(crate) type JsonObject = Map<String, Value>;

/// A JSON Web Key Set (RFC 7517). Keys that are not public P-256 keys with a `kid` are ignored.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct Jwks {
    /// The keys.
    pub keys: Vec<Value>,
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

    /// What was signed, if the signature is right.
    pub(crate) fn payload_by(&self, key: &PublicKey) -> Option<&[u8]> {
        UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, &key.point)
            .verify(self.input.as_bytes(), &self.signature)
            .ok()?;
        Some(&self.payload)
    }

    /// Whether a member of the header is this text.
    pub(crate) fn has(&self, name: &str, wanted: &str) -> bool {
        self.header.get(name).and_then(Value::as_str) == Some(wanted)
    }
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

pub(crate) type KeysById = HashMap<String, PublicKey>;

pub(crate) fn import_keys(jwks: &Jwks) -> KeysById {
    jwks.keys
        .iter()
        .filter_map(Value::as_object)
        .filter_map(import_key)
        .collect()
}

fn import_key(jwk: &JsonObject) -> Option<(String, PublicKey)> {
    let kid = jwk.get("kid")?.as_str()?;
    // A null counts as absent.
    let is = |name: &str, wanted: &str| match jwk.get(name) {
        None | Some(Value::Null) => true,
        Some(value) => value.as_str() == Some(wanted),
    };
    if jwk.contains_key("d") || !is("alg", "ES256") || !is("use", "sig") {
        return None;
    }
    Some((kid.to_owned(), PublicKey::import(jwk)?))
}

pub(crate) fn has_exactly(object: &JsonObject, members: &[&str]) -> bool {
    object.len() == members.len() && members.iter().all(|name| object.contains_key(*name))
}

/// Only the canonical encoding: the decoder refuses padding and unused bits that are set. Otherwise there
/// would be several texts for one signature.
fn decode(segment: &str) -> Option<Vec<u8>> {
    URL_SAFE_NO_PAD.decode(segment).ok()
}

pub(crate) fn parse_object(bytes: &[u8]) -> Option<JsonObject> {
    serde_json::from_slice(bytes).ok()
}
