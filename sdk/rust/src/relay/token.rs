//! The participant token: its claims, and whether the service signed it. Checks 1 to 5 of docs/tokens.md.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::Value;

use super::jws::{What, read, read_verified, whole};
use super::refusal::RefusalCode;
use super::signing_keys::SigningKeys;
use crate::generated::rest::Role;
use crate::jws::{JsonObject, has_exactly};

const LIFETIME_SECONDS_MAX: u64 = 900;
/// How far the service's clock may be ahead of ours. Expiry has no such leeway.
const SKEW_SECONDS_MAX: u64 = 60;

/// The user of a token and its grant.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TokenClaims {
    /// `t_` and 16 hex digits.
    pub tenant: String,
    /// Normalised by the service.
    pub username: String,
    /// Name of the room.
    pub room: String,
    /// Distinguishes successive rooms of the same name.
    pub room_uid: String,
    /// What the user is in the room.
    pub role: Role,
    /// Rights that are not listed are denied.
    pub capabilities: Vec<String>,
    /// 0 to 100. A participant may act only on lower ranks.
    pub rank: u64,
    /// The revocation epoch of this user in this room when the token was minted.
    pub epoch: u64,
    /// RFC 7638 thumbprint of the device's public key.
    pub device_thumbprint: String,
    /// When it was minted.
    pub issued_at: SystemTime,
    /// The session ends at this time unless it is renewed before.
    pub expires_at: SystemTime,
    /// `jti`, for logs.
    pub token_id: String,
    /// Id of the API key or device credential that the token was minted with: for logs,
    /// and [`Revocations::check`](super::Revocations::check).
    pub minted_by: String,
    /// Secret of the tenant: banned ranges of addresses are hashed with it.
    pub range_salt: String,
    /// Whether the room takes only media with end-to-end encryption.
    pub e2ee_required: bool,
    /// Whether a participant who begins to publish is muted until the participant turns the microphone on.
    pub mute_on_entry: bool,
    /// Hard budgets that pay for the session: for [`RevocationFeed::budget_reached`](super::RevocationFeed::budget_reached).
    pub budgets: Vec<String>,
}

pub(crate) struct Expected<'a> {
    pub(crate) issuer: &'a str,
    pub(crate) audience: &'a str,
    pub(crate) keys: &'a SigningKeys,
    pub(crate) now: SystemTime,
}

/// Verify a token alone, without the device that presents it.
pub(crate) async fn verify_token(
    token: &str,
    expected: Expected<'_>,
) -> Result<TokenClaims, RefusalCode> {
    let jws = read(token, What::Token, "participant+jwt", ["typ", "alg", "kid"])?;
    let key = expected.keys.get(jws.header.get("kid")).await?;
    let claims = read_verified(&jws, &key, What::Token)?;

    let is = |name: &str, wanted: &str| claims.get(name).and_then(Value::as_str) == Some(wanted);
    if !is("iss", expected.issuer) {
        return Err(RefusalCode::TokenWrongIssuer);
    }
    if !is("aud", expected.audience) {
        return Err(RefusalCode::TokenWrongAudience);
    }
    let (issued_at, expires_at) = check_times(&claims, expected.now)?;
    let device_thumbprint = read_thumbprint(claims.get("cnf"))?;
    let text = |name: &str| read_text(claims.get(name));
    let policy = read_policy(&claims)?;
    Ok(TokenClaims {
        tenant: text("tid")?,
        username: text("sub")?,
        room: text("room")?,
        room_uid: text("rid")?,
        role: read_role(claims.get("role"))?,
        capabilities: read_texts(claims.get("cap"))?,
        rank: read_whole(&claims, "rank")?,
        epoch: read_whole(&claims, "ep")?,
        device_thumbprint,
        issued_at,
        expires_at,
        token_id: text("jti")?,
        minted_by: text("key")?,
        range_salt: text("salt")?,
        e2ee_required: read_flag(policy, "e2ee_required")?,
        mute_on_entry: read_flag(policy, "mute_on_entry")?,
        budgets: match claims.get("bud") {
            None => Vec::new(),
            budgets => read_texts(budgets)?,
        },
    })
}

fn check_times(
    claims: &JsonObject,
    now: SystemTime,
) -> Result<(SystemTime, SystemTime), RefusalCode> {
    let [iat, nbf, exp] = [
        read_whole(claims, "iat")?,
        read_whole(claims, "nbf")?,
        read_whole(claims, "exp")?,
    ];
    let (issued_at, expires_at) = (time(iat)?, time(exp)?);
    if now >= expires_at {
        return Err(RefusalCode::TokenExpired);
    }
    if time(iat.max(nbf))? > now + Duration::from_secs(SKEW_SECONDS_MAX) {
        return Err(RefusalCode::TokenNotYetValid);
    }
    if exp <= iat || exp - iat > LIFETIME_SECONDS_MAX {
        return Err(RefusalCode::TokenLivesTooLong);
    }
    Ok((issued_at, expires_at))
}

fn time(seconds: u64) -> Result<SystemTime, RefusalCode> {
    UNIX_EPOCH
        .checked_add(Duration::from_secs(seconds))
        .ok_or(RefusalCode::TokenClaimsInvalid)
}

/// `cnf` must contain `jkt` only: any other confirmation method could be weaker.
fn read_thumbprint(cnf: Option<&Value>) -> Result<String, RefusalCode> {
    let is_thumbprint = |jkt: &&str| {
        jkt.len() == 43
            && jkt
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte))
    };
    cnf.and_then(Value::as_object)
        .filter(|cnf| has_exactly(cnf, &["jkt"]))
        .and_then(|cnf| cnf.get("jkt"))
        .and_then(Value::as_str)
        .filter(is_thumbprint)
        .map(str::to_owned)
        .ok_or(RefusalCode::TokenNotBound)
}

fn read_role(value: Option<&Value>) -> Result<Role, RefusalCode> {
    match read_text(value)?.as_str().into() {
        Role::Unknown(_) => Err(RefusalCode::TokenClaimsInvalid),
        role => Ok(role),
    }
}

fn read_texts(value: Option<&Value>) -> Result<Vec<String>, RefusalCode> {
    let list = value
        .and_then(Value::as_array)
        .ok_or(RefusalCode::TokenClaimsInvalid)?;
    list.iter().map(|each| read_text(Some(each))).collect()
}

/// The rules of the room; `None` if none is set. Others than those that are asked for are ignored.
fn read_policy(claims: &JsonObject) -> Result<Option<&JsonObject>, RefusalCode> {
    match claims.get("policy") {
        None => Ok(None),
        Some(value) => value
            .as_object()
            .map(Some)
            .ok_or(RefusalCode::TokenClaimsInvalid),
    }
}

fn read_flag(policy: Option<&JsonObject>, name: &str) -> Result<bool, RefusalCode> {
    match policy.and_then(|policy| policy.get(name)) {
        None => Ok(false),
        Some(value) => value.as_bool().ok_or(RefusalCode::TokenClaimsInvalid),
    }
}

fn read_text(value: Option<&Value>) -> Result<String, RefusalCode> {
    match value.and_then(Value::as_str) {
        Some(text) if !text.is_empty() => Ok(text.to_owned()),
        _ => Err(RefusalCode::TokenClaimsInvalid),
    }
}

fn read_whole(claims: &JsonObject, name: &str) -> Result<u64, RefusalCode> {
    claims
        .get(name)
        .and_then(whole)
        .ok_or(RefusalCode::TokenClaimsInvalid)
}
