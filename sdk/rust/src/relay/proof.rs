//! Proof of possession: the sender of the token holds the device key that it is bound to, signs here and
//! now, and owns the other end of the DTLS connection. Checks 8 and 9 of docs/tokens.md.
//!
//! The format is that of RFC 9449 (`DPoP`). The relay's own challenge replaces the device's clock and the
//! cache of used proofs.

use http::Uri;
use ring::digest::{SHA256, digest};
use serde_json::Value;

use super::jws::{What, encode, integer, read, read_verified};
use super::refusal::RefusalCode;
use crate::jws::{JsonObject, PublicKey, has_exactly};

pub(crate) struct ExpectedProof<'a> {
    pub(crate) token: &'a str,
    pub(crate) device_thumbprint: &'a str,
    pub(crate) challenge: &'a str,
    pub(crate) method: &'a str,
    pub(crate) url: &'a str,
}

/// Returns the fingerprint of the DTLS certificate that the device claims as its own.
pub(crate) fn verify_proof(
    proof: &str,
    expected: &ExpectedProof<'_>,
) -> Result<String, RefusalCode> {
    let jws = read(proof, What::Proof, "dpop+jwt", ["typ", "alg", "jwk"])?;
    let (jwk, key) = jws
        .header
        .get("jwk")
        .and_then(Value::as_object)
        .filter(|jwk| has_exactly(jwk, &["kty", "crv", "x", "y"]))
        .and_then(|jwk| Some((jwk, PublicKey::import(jwk)?)))
        .ok_or(RefusalCode::ProofKeyInvalid)?;
    let claims = read_verified(&jws, &key, What::Proof)?;
    let text = |name: &str| claims.get(name).and_then(Value::as_str);

    let has_id = text("jti").is_some_and(|jti| !jti.is_empty());
    let fingerprint = text("dtls_fp").filter(|fingerprint| is_fingerprint(fingerprint));
    let has_time = claims.get("iat").and_then(integer).is_some();
    let (Some(fingerprint), true, true) = (fingerprint, has_id, has_time) else {
        return Err(RefusalCode::ProofClaimsInvalid);
    };
    if text("htm") != Some(expected.method) {
        return Err(RefusalCode::ProofOtherMethod);
    }
    let target = text("htu").and_then(target_of);
    if target.is_none() || target != target_of(expected.url) {
        return Err(RefusalCode::ProofOtherUrl);
    }
    let hash = encode(digest(&SHA256, expected.token.as_bytes()).as_ref());
    if text("ath") != Some(&hash) {
        return Err(RefusalCode::ProofOtherToken);
    }
    if text("nonce") != Some(expected.challenge) {
        return Err(RefusalCode::ProofOtherChallenge);
    }
    if thumbprint(jwk).as_deref() != Some(expected.device_thumbprint) {
        return Err(RefusalCode::ProofOtherDevice);
    }
    Ok(fingerprint.to_owned())
}

/// SHA-256 as 32 lower-case hex pairs with colons.
fn is_fingerprint(text: &str) -> bool {
    let is_hex = |byte: &u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    let pairs: Vec<&str> = text.split(':').collect();
    pairs.len() == 32
        && pairs
            .iter()
            .all(|pair| pair.len() == 2 && pair.as_bytes().iter().all(is_hex))
}

/// RFC 7638.
fn thumbprint(jwk: &JsonObject) -> Option<String> {
    let (x, y) = (jwk.get("x")?.as_str()?, jwk.get("y")?.as_str()?);
    let text = format!(r#"{{"crv":"P-256","kty":"EC","x":"{x}","y":"{y}"}}"#);
    Some(encode(digest(&SHA256, text.as_bytes()).as_ref()))
}

/// A URL in its normal form, without query and fragment (RFC 9449, 4.2 and 4.3). Only ASCII hosts.
fn target_of(text: &str) -> Option<String> {
    let text = text.split('#').next()?;
    let uri: Uri = text.parse().ok()?;
    let scheme = uri.scheme_str()?.to_ascii_lowercase();
    let host = uri.host()?.to_ascii_lowercase();
    let port = match (scheme.as_str(), uri.port_u16()) {
        ("https" | "wss", Some(443)) | ("http" | "ws", Some(80)) | (_, None) => String::new(),
        (_, Some(port)) => format!(":{port}"),
    };
    let user = match uri.authority()?.as_str().rsplit_once('@') {
        Some((user, _)) => format!("{user}@"),
        None => String::new(),
    };
    Some(format!(
        "{scheme}://{user}{host}{port}{}",
        resolve(uri.path())
    ))
}

/// Without `.` and `..`. Source: RFC 3986, 5.2.4.
fn resolve(path: &str) -> String {
    let mut segments: Vec<&str> = Vec::new();
    let mut rest = path.split('/').skip(1).peekable();
    while let Some(segment) = rest.next() {
        let is_last = rest.peek().is_none();
        match segment.to_ascii_lowercase().replace("%2e", ".").as_str() {
            "." | ".." if is_last => {
                if segment.len() != 1 && !segment.eq_ignore_ascii_case("%2e") {
                    segments.pop();
                }
                segments.push("");
            }
            "." => {}
            ".." => {
                segments.pop();
            }
            _ => segments.push(segment),
        }
    }
    format!("/{}", segments.join("/"))
}

#[cfg(test)]
mod tests {
    use super::target_of;

    #[test]
    fn urls_are_compared_in_their_normal_form() {
        let normal = target_of("https://relay.example/connect");
        for same in [
            "https://relay.example/connect?query#fragment",
            "HTTPS://Relay.Example:443/connect",
            "https://relay.example/./a/../connect",
            "https://relay.example/a/%2e%2E/connect",
        ] {
            assert_eq!(target_of(same), normal, "{same}");
        }
        for other in [
            "https://relay.example:8443/connect",
            "http://relay.example/connect",
            "https://relay.example/connect/",
            "https://relay.example/Connect",
            "https://user@relay.example/connect",
            "https://relay.example",
        ] {
            assert_ne!(target_of(other), normal, "{other}");
        }
        assert_eq!(
            target_of("https://relay.example"),
            target_of("https://relay.example/a/..")
        );
        for none in ["", "connect", "/connect", "undefined"] {
            assert_eq!(target_of(none), None, "{none}");
        }
    }
}
