//! Usage as a relay measured it, and records as the service reads them.

use super::error::{UsageError, UsageErrorCode};
use crate::generated::rest::{Role, Tier, UsageRecord};

/// Longer intervals are split, because the service takes a day at most.
const SECONDS_MAX: u64 = 86_400;
/// A longer interval is a mistake, and would flood the spool with its parts.
const PARTS_MAX: u64 = 100;
/// Characters of `room` and of `participant`.
const TEXT_MAX: usize = 200;
const LINE_BYTES_MAX: usize = 65_536;
/// What JSON holds exactly in all languages: 2^53 - 1.
pub(super) const WHOLE_MAX: u64 = (1 << 53) - 1;

/// The tier for a number of pixels: the sum of all video streams that the participant receives at once.
#[must_use]
pub fn tier_of(pixels: u64) -> Tier {
    match pixels {
        0 => Tier::Audio,
        1..=921_600 => Tier::Hd,
        921_601..=2_073_600 => Tier::FullHd,
        2_073_601..=3_686_400 => Tier::TwoK,
        _ => Tier::TwoKPlus,
    }
}

/// Whose usage is measured.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
#[must_use]
pub struct MeasuredParticipant {
    /// It decides the ceiling of the price.
    pub role: Role,
    /// It decides the ceiling of the price: see [`tier_of`].
    pub tier: Tier,
    /// Identifies the participant's stay: 1 to 64 of `A-Z a-z 0-9 _ -`. It becomes part of the id. Default: one of the
    /// reporter.
    pub session_id: Option<String>,
    /// The service refuses the record unless the key belongs to this tenant.
    pub tenant: Option<String>,
    /// The room, which the ledger shows: at most 200 characters.
    pub room: Option<String>,
    /// The participant, which the ledger shows: at most 200 characters.
    pub participant: Option<String>,
}

impl MeasuredParticipant {
    /// A participant without names.
    pub fn new(role: Role, tier: Tier) -> Self {
        Self {
            role,
            tier,
            session_id: None,
            tenant: None,
            room: None,
            participant: None,
        }
    }

    /// Identifies the participant's stay: 1 to 64 of `A-Z a-z 0-9 _ -`. It becomes part of the id.
    pub fn session_id(mut self, id: impl Into<String>) -> Self {
        self.session_id = Some(id.into());
        self
    }

    /// The service refuses the record unless the key belongs to this tenant.
    pub fn tenant(mut self, tenant: impl Into<String>) -> Self {
        self.tenant = Some(tenant.into());
        self
    }

    /// The room, which the ledger shows: at most 200 characters.
    pub fn room(mut self, room: impl Into<String>) -> Self {
        self.room = Some(room.into());
        self
    }

    /// The participant, which the ledger shows: at most 200 characters.
    pub fn participant(mut self, participant: impl Into<String>) -> Self {
        self.participant = Some(participant.into());
        self
    }

    /// Fails for what the service would refuse: a relay can still fix its call, while a refused record can only be
    /// quarantined.
    pub(super) fn check(&self) -> Result<(), UsageError> {
        if self.session_id.as_deref().is_some_and(|id| !is_id_part(id)) {
            return Err(invalid("session_id must be 1 to 64 of A-Z a-z 0-9 _ -"));
        }
        let texts = [
            ("tenant", &self.tenant, usize::MAX),
            ("room", &self.room, TEXT_MAX),
            ("participant", &self.participant, TEXT_MAX),
        ];
        for (name, text, max) in texts {
            let text = text.as_deref().unwrap_or_default();
            if text.contains('\0') {
                return Err(invalid(&format!("{name} must be text without NUL")));
            }
            if text.chars().count() > max {
                let message = format!("{name} must have at most {max} characters");
                return Err(invalid(&message));
            }
        }
        check_grant(&self.role, &self.tier)
    }
}

/// The traffic of one participant in one interval. Source: specification 2.6.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
#[must_use]
pub struct ParticipantUsage {
    /// Whose traffic.
    pub of: MeasuredParticipant,
    /// The time connected in this interval. More than a day becomes several records; at most 100 days.
    pub seconds: u64,
    /// Bytes sent to the participant: they are charged.
    pub egress_bytes: u64,
    /// Bytes received from the participant.
    pub ingress_bytes: u64,
}

impl ParticipantUsage {
    /// The time connected in this interval. More than a day becomes several records; at most 100 days.
    pub fn new(of: MeasuredParticipant, seconds: u64) -> Self {
        Self {
            of,
            seconds,
            egress_bytes: 0,
            ingress_bytes: 0,
        }
    }

    /// Bytes sent to the participant: they are charged.
    pub fn egress_bytes(mut self, bytes: u64) -> Self {
        self.egress_bytes = bytes;
        self
    }

    /// Bytes received from the participant.
    pub fn ingress_bytes(mut self, bytes: u64) -> Self {
        self.ingress_bytes = bytes;
        self
    }

    pub(super) fn check(&self) -> Result<(), UsageError> {
        self.of.check()?;
        if self.seconds > SECONDS_MAX * PARTS_MAX {
            let message = format!("seconds must be from 0 to {}", SECONDS_MAX * PARTS_MAX);
            return Err(invalid(&message));
        }
        check_count("egress_bytes", self.egress_bytes)?;
        check_count("ingress_bytes", self.ingress_bytes)
    }

    /// The records, a line of JSON each, with their ids. More than a day becomes several, with bytes shared out by time;
    /// their ids follow from the first one.
    pub(super) fn render(&self, id: &str) -> Result<(Vec<String>, Vec<String>), UsageError> {
        let (mut ids, mut lines) = (Vec::new(), Vec::new());
        for part in 0..self.seconds.div_ceil(SECONDS_MAX).max(1) {
            let id = match part {
                0 => id.to_owned(),
                _ => format!("{id}.{part}"),
            };
            let start = part * SECONDS_MAX;
            let end = self.seconds.min(start + SECONDS_MAX);
            let before = |bytes| {
                if part == 0 {
                    0
                } else {
                    self.up_to(bytes, start)
                }
            };
            let share = |bytes| self.up_to(bytes, end) - before(bytes);
            lines.push(self.render_part(
                &id,
                [
                    end - start,
                    share(self.egress_bytes),
                    share(self.ingress_bytes),
                ],
            )?);
            ids.push(id);
        }
        Ok((ids, lines))
    }

    fn render_part(
        &self,
        id: &str,
        [seconds, egress, ingress]: [u64; 3],
    ) -> Result<String, UsageError> {
        let whole = |number| i64::try_from(number).unwrap_or(i64::MAX);
        let (role, tier) = (self.of.role.clone(), self.of.tier.clone());
        let mut record = UsageRecord::new(id, role, tier, whole(seconds))
            .egress_bytes(whole(egress))
            .ingress_bytes(whole(ingress));
        let given = |text: &Option<String>| text.clone().filter(|text| !text.is_empty());
        record.tenant = given(&self.of.tenant);
        record.room = given(&self.of.room);
        record.participant = given(&self.of.participant);
        let line =
            serde_json::to_string(&record).map_err(|_| invalid("the usage cannot be written"))?;
        if line.len() > LINE_BYTES_MAX {
            let message = format!("a record must be at most {LINE_BYTES_MAX} bytes of JSON");
            return Err(invalid(&message));
        }
        Ok(line)
    }

    /// The share of bytes in the first `end` seconds, rounded down; all of them in an interval without seconds.
    fn up_to(&self, bytes: u64, end: u64) -> u64 {
        let share = (u128::from(bytes) * u128::from(end)).checked_div(self.seconds.into());
        share.map_or(bytes, |share| u64::try_from(share).unwrap_or(bytes))
    }
}

/// 1 to 64 of `A-Z a-z 0-9 _ -`.
pub(super) fn is_id_part(text: &str) -> bool {
    let is_known = |byte: u8| byte.is_ascii_alphanumeric() || b"_-".contains(&byte);
    (1..=64).contains(&text.len()) && text.bytes().all(is_known)
}

pub(super) fn check_grant(role: &Role, tier: &Tier) -> Result<(), UsageError> {
    if let Role::Unknown(_) = role {
        return Err(invalid("role must be host, audience or broadcast_audience"));
    }
    match tier {
        Tier::Unknown(_) => Err(invalid("tier must be audio, hd, full_hd, 2k or 2k_plus")),
        _ => Ok(()),
    }
}

pub(super) fn check_count(name: &str, value: u64) -> Result<(), UsageError> {
    if value > WHOLE_MAX {
        return Err(invalid(&format!("{name} must be from 0 to 2^53 - 1")));
    }
    Ok(())
}

fn invalid(message: &str) -> UsageError {
    UsageError::new(UsageErrorCode::InvalidUsage, message)
}
