//! Revocations since a token was minted: kicks, bans, mutes, closed rooms and revoked device
//! credentials of one tenant.
//!
//! A token lives for 15 minutes at most, so a snapshot is short: older revocations have no token left that
//! they could apply to. Users, rooms and address ranges are hashed; `docs/revocations.md` describes the format.

use std::collections::HashMap;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use ring::digest::{SHA256, digest};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::address::{network_of, read_address};
use super::jws::encode;
use super::refusal::{AdmissionRefused, RefusalCode, RevocationReason};
use super::signing_keys::SigningKeys;
use super::token::TokenClaims;
use crate::jws::{Jws, has_exactly, parse_object};

/// A snapshot. Times are seconds since 1970.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Revocations {
    /// Increases with every change.
    pub seq: u64,
    /// From then on the snapshot is too old to admit participants.
    pub exp: u64,
    /// A user in a room, epoch: tokens of an earlier epoch are void.
    pub epochs: Vec<(String, u64)>,
    /// Who is banned.
    pub bans: Vec<Ban>,
    /// A user in a room, and what the user may not publish: `audio`, `video`, `screen`, `data`.
    pub mutes: Vec<Vec<String>>,
    /// Rooms that were closed.
    pub closed: Vec<String>,
    /// Device credentials that were revoked: every token that was minted with one is void. Earlier versions of
    /// the service give none.
    #[serde(default)]
    pub credentials: Vec<String>,
    /// Why: a user of `epochs` or a room of `closed`, and a word of [`RevocationReason`], or one of a later
    /// version. Earlier versions of the service give no reasons.
    #[serde(default)]
    pub reasons: Vec<(String, String)>,
}

/// A room or `*` for the whole tenant; the banned subject; expiry (`None`: never). The value of a range is
/// the length of its prefix, `/` and a hash.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ban(pub String, pub BanKind, pub String, pub Option<u64>);

/// What is banned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BanKind {
    /// A user.
    User,
    /// A device.
    Device,
    /// A range of addresses.
    Range,
}

/// To whom revocations may apply.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
#[allow(missing_docs)] // As in `TokenClaims`.
pub struct Subject {
    pub tenant: String,
    pub username: String,
    pub room_uid: String,
    pub epoch: u64,
    pub device_thumbprint: String,
    pub range_salt: String,
    pub minted_by: String,
}

impl From<&TokenClaims> for Subject {
    fn from(claims: &TokenClaims) -> Self {
        Self {
            tenant: claims.tenant.clone(),
            username: claims.username.clone(),
            room_uid: claims.room_uid.clone(),
            epoch: claims.epoch,
            device_thumbprint: claims.device_thumbprint.clone(),
            range_salt: claims.range_salt.clone(),
            minted_by: claims.minted_by.clone(),
        }
    }
}

impl Revocations {
    /// Refuse a participant to whom the revocations apply. Return what the participant may not publish.
    ///
    /// The verifier does it for new tokens. Do it for running sessions with every new snapshot. The
    /// `address` is needed only if addresses are banned.
    pub fn check(
        &self,
        subject: &Subject,
        now: SystemTime,
        address: Option<&str>,
    ) -> Result<Vec<String>, AdmissionRefused> {
        if !self.is_current(now) {
            return Err(RefusalCode::RevocationsStale.into());
        }
        let room = hash_of(&["room", &subject.room_uid]);
        if self.closed.contains(&room) {
            return Err(AdmissionRefused::because(
                RefusalCode::RoomClosed,
                self.reason_of(&room),
            ));
        }
        let user = hash_of(&["epoch", &subject.room_uid, &subject.username]);
        if self
            .epochs
            .iter()
            .any(|(of, epoch)| *of == user && subject.epoch < *epoch)
        {
            return Err(AdmissionRefused::because(
                RefusalCode::TokenRevoked,
                self.reason_of(&user),
            ));
        }
        let credential = hash_of(&["credential", &subject.tenant, &subject.minted_by]);
        if self.credentials.contains(&credential) {
            return Err(AdmissionRefused::because(
                RefusalCode::TokenRevoked,
                Some(RevocationReason::CredentialRevoked),
            ));
        }
        self.check_bans(subject, now, address, &room)?;
        let muted = hash_of(&["mute", &subject.room_uid, &subject.username]);
        let own = self.mutes.iter().filter_map(|mute| mute.split_first());
        Ok(own
            .filter(|(of, _)| **of == muted)
            .flat_map(|(_, media)| media.to_vec())
            .collect())
    }

    pub(crate) fn is_current(&self, now: SystemTime) -> bool {
        is_after(self.exp, now)
    }

    fn check_bans(
        &self,
        subject: &Subject,
        now: SystemTime,
        address: Option<&str>,
        room: &str,
    ) -> Result<(), AdmissionRefused> {
        let mut everywhere = Scope::new(&subject.tenant, &subject.range_salt, subject, address);
        let mut here = Scope::new(&subject.room_uid, &subject.room_uid, subject, address);
        for Ban(scope, kind, value, until) in &self.bans {
            let own = match scope.as_str() {
                "*" => &mut everywhere,
                scope if scope == room => &mut here,
                _ => continue,
            };
            if until.is_some_and(|until| !is_after(until, now)) {
                continue;
            }
            if own.is_meant(*kind, value)? {
                let reason = Some(RevocationReason::Banned);
                return Err(AdmissionRefused::because(RefusalCode::Banned, reason));
            }
        }
        Ok(())
    }

    fn reason_of(&self, user_or_room: &str) -> Option<RevocationReason> {
        let found = self.reasons.iter().find(|(of, _)| of == user_or_room);
        found.and_then(|(_, reason)| RevocationReason::read(reason))
    }
}

/// A time too far away for the clock is after now.
fn is_after(seconds: u64, now: SystemTime) -> bool {
    UNIX_EPOCH
        .checked_add(Duration::from_secs(seconds))
        .is_none_or(|time| now < time)
}

/// Bans of the whole tenant, or of one room.
struct Scope<'a> {
    user: String,
    device: String,
    /// The uid of a room, or the salt of the tenant.
    secret: &'a str,
    address: Option<&'a str>,
    /// Each length of a prefix is hashed once, however many ranges have it.
    hashes: HashMap<usize, Option<String>>,
}

impl<'a> Scope<'a> {
    fn new(of: &str, secret: &'a str, subject: &Subject, address: Option<&'a str>) -> Self {
        Self {
            user: hash_of(&["user", of, &subject.username]),
            device: hash_of(&["device", of, &subject.device_thumbprint]),
            secret,
            address,
            hashes: HashMap::new(),
        }
    }

    fn is_meant(&mut self, kind: BanKind, value: &str) -> Result<bool, RefusalCode> {
        match kind {
            BanKind::User => Ok(value == self.user),
            BanKind::Device => Ok(value == self.device),
            BanKind::Range => self.is_inside(value),
        }
    }

    fn is_inside(&mut self, range: &str) -> Result<bool, RefusalCode> {
        let address = self
            .address
            .and_then(read_address)
            .ok_or(RefusalCode::AddressUnknown)?;
        let Some((bits, hash)) = range.split_once('/') else {
            return Ok(false);
        };
        let Ok(bits) = bits.parse() else {
            return Ok(false);
        };
        let own = self.hashes.entry(bits).or_insert_with(|| {
            let network = network_of(&address, bits)?;
            Some(hash_of(&[
                "range",
                self.secret,
                &format!("{network}/{bits}"),
            ]))
        });
        Ok(own.as_deref() == Some(hash))
    }
}

/// The hash by which a snapshot names users, devices, rooms and ranges, such as
/// `hash_of(&["epoch", room_uid, username])`.
#[must_use]
pub fn hash_of(parts: &[&str]) -> String {
    let hash = digest(&SHA256, parts.join("\0").as_bytes());
    encode(hash.as_ref().get(..16).unwrap_or_default())
}

pub(crate) struct ExpectedRevocations<'a> {
    pub(crate) issuer: &'a str,
    pub(crate) audience: &'a str,
    pub(crate) tenant: &'a str,
    pub(crate) keys: &'a SigningKeys,
    pub(crate) now: SystemTime,
}

/// A strict parser for the service's snapshot, a compact JWS. `None` if anything is wrong with it.
///
/// Entries of an unknown shape are an error: a revocation that is ignored would not be enforced. Other
/// members only explain, and are ignored.
pub(crate) async fn verify_revocations(
    text: &str,
    expected: ExpectedRevocations<'_>,
) -> Option<Revocations> {
    let jws = Jws::parse(text)?;
    let is_header = has_exactly(&jws.header, &["typ", "alg", "kid"])
        && jws.has("typ", "revocations+jwt")
        && jws.has("alg", "ES256");
    if !is_header {
        return None;
    }
    let key = expected.keys.get(jws.header.get("kid")).await.ok()?;
    let claims = parse_object(jws.payload_by(&key)?)?;
    let is = |name: &str, wanted: &str| claims.get(name).and_then(Value::as_str) == Some(wanted);
    let is_ours =
        is("iss", expected.issuer) && is("aud", expected.audience) && is("tid", expected.tenant);
    let found: Revocations = serde_json::from_value(Value::Object(claims)).ok()?;
    (is_ours && found.is_current(expected.now) && is_understood(&found)).then_some(found)
}

/// What the types do not say.
fn is_understood(found: &Revocations) -> bool {
    let is_text = |text: &String| !text.is_empty();
    found.epochs.iter().all(|(user, _)| is_text(user))
        && found.bans.iter().all(|Ban(room, kind, value, _)| {
            is_text(room) && is_text(value) && (*kind != BanKind::Range || is_range(value))
        })
        && found
            .mutes
            .iter()
            .all(|mute| mute.len() > 1 && mute.iter().all(is_text))
        && found.closed.iter().all(is_text)
        && found.credentials.iter().all(is_text)
        && found
            .reasons
            .iter()
            .all(|(of, reason)| is_text(of) && is_text(reason))
}

/// One to three digits that do not begin with 0, `/`, and 22 characters of base64url.
fn is_range(value: &str) -> bool {
    let Some((bits, hash)) = value.split_once('/') else {
        return false;
    };
    let is_number = (1..=3).contains(&bits.len())
        && !bits.starts_with('0')
        && bits.bytes().all(|byte| byte.is_ascii_digit());
    let is_hash = hash.len() == 22
        && hash
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte));
    is_number && is_hash
}
