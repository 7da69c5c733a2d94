//! Types of the REST interface.

use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};

use crate::money::Amount;
use crate::plain;
use crate::secret::Secret;
use crate::words::text_words;

text_words! {
    /// Whether a tenant may be served.
    pub enum TenantStatus {
        /// Until the first payment.
        Pending => "pending",
        /// It admits sessions.
        Active => "active",
        /// Stopped by the operator.
        Suspended => "suspended",
        /// Put away.
        Archived => "archived",
        /// Gone.
        Deleted => "deleted",
    }
}

text_words! {
    /// What changed a balance.
    pub enum LedgerKind {
        /// A charge for usage.
        Usage => "usage",
        /// A payment.
        TopUp => "top_up",
        /// An automatic payment.
        AutoTopUp => "auto_top_up",
        /// A payment that was given back.
        Refund => "refund",
        /// A payment that its payer disputes.
        Dispute => "dispute",
        /// A correction by the operator.
        Adjustment => "adjustment",
    }
}

text_words! {
    /// What an API key is for.
    pub enum KeyKind {
        /// Everything of the tenant.
        Backend => "backend",
        /// Reports of usage.
        Relay => "relay",
    }
}

text_words! {
    /// What a participant is in a room.
    pub enum Role {
        /// It leads the room.
        Host => "host",
        /// It takes part.
        Audience => "audience",
        /// It watches a broadcast.
        BroadcastAudience => "broadcast_audience",
    }
}

text_words! {
    /// The sum of all video that a participant receives at once.
    pub enum Tier {
        /// No video.
        Audio => "audio",
        /// Up to HD.
        Hd => "hd",
        /// Up to full HD.
        FullHd => "full_hd",
        /// Up to 2K.
        TwoK => "2k",
        /// More than 2K.
        TwoKPlus => "2k_plus",
    }
}

impl Default for TenantStatus {
    fn default() -> Self {
        Self::Unknown(String::new())
    }
}

impl Default for LedgerKind {
    fn default() -> Self {
        Self::Unknown(String::new())
    }
}

impl Default for Role {
    fn default() -> Self {
        Self::Unknown(String::new())
    }
}

impl Default for Tier {
    fn default() -> Self {
        Self::Unknown(String::new())
    }
}

impl Default for KeyKind {
    fn default() -> Self {
        Self::Unknown(String::new())
    }
}

/// A customer of the platform, with its settings for payments.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Tenant {
    /// The id of the tenant.
    pub id: String,
    /// As given at signup.
    pub name: String,
    /// As given at signup.
    pub email: String,
    /// `pending` until the first payment; only `active` tenants admit sessions.
    pub status: TenantStatus,
    /// A saved payment method exists.
    pub has_card: bool,
    /// The rule of automatic top-ups.
    pub auto_top_up: AutoTopUp,
    /// What stops automatic top-ups, or why the last one failed. Absent: neither.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_top_up_error: Option<String>,
    /// When the tenant signed up.
    #[serde(with = "plain::optional_time", skip_serializing_if = "Option::is_none")]
    pub created_at: Option<SystemTime>,
}

/// The rule of automatic top-ups.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct AutoTopUp {
    /// Whether the saved card is charged automatically.
    pub enabled: bool,
    /// The balance below which it is charged.
    pub below: Amount,
    /// What it is charged.
    pub amount: Amount,
}

/// One change of the balance.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct LedgerEntry {
    /// What changed the balance.
    pub kind: LedgerKind,
    /// By how much the balance changed; charges are negative.
    pub amount: Amount,
    /// The charge was limited by the ceiling.
    pub capped: bool,
    /// For usage, the room; for payments, the provider's id.
    pub reference: String,
    /// For usage, the participant.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// When the balance changed.
    #[serde(with = "plain::optional_time", skip_serializing_if = "Option::is_none")]
    pub at: Option<SystemTime>,
    /// For usage, the id of the record. Only `billing().ledger` has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// For a payment, refund or dispute, the id of the payment. Only `billing().ledger` has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub payment: Option<String>,
    /// The number of the posting in the ledger. Records that were charged together have one posting. Only
    /// `billing().ledger` has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub posting_seq: Option<i64>,
    /// The balance after the posting. Only `billing().ledger` has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub balance_after: Option<Amount>,
}

/// The tenant, its balance and its newest ledger entries.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct BillingState {
    /// A customer of the platform, with its settings for payments.
    pub tenant: Tenant,
    /// Prepaid credit that is left; may be negative.
    pub balance: Amount,
    /// New sessions and tokens are admitted.
    pub admitted: bool,
    /// The newest entries of the ledger, newest first.
    pub recent: Vec<LedgerEntry>,
}

/// A page on which credit is paid for.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Checkout {
    /// The page, to open in a browser.
    pub checkout_url: String,
}

/// The portal for receipts and saved cards.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Portal {
    /// The portal, to open in a browser.
    pub portal_url: String,
}

/// When to charge the saved card automatically.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
#[must_use]
pub struct SetAutoTopUp {
    /// Whether to charge the saved card automatically.
    pub enabled: bool,
    /// The balance below which to charge it, in whole cents.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub below_cents: Option<i64>,
    /// What to charge, in whole cents; when enabled, 1000 to 1000000.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub amount_cents: Option<i64>,
}

impl SetAutoTopUp {
    /// Charge `amount_cents` whenever the balance falls below `below_cents`.
    pub fn on(below_cents: i64, amount_cents: i64) -> Self {
        Self {
            enabled: true,
            below_cents: Some(below_cents),
            amount_cents: Some(amount_cents),
        }
    }

    /// Charge nothing automatically.
    pub fn off() -> Self {
        Self::default()
    }
}

/// An API key, without its secret.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct ApiKey {
    /// The second part of the plaintext.
    pub id: String,
    /// As given when it was created.
    pub name: String,
    /// `backend`: everything of the tenant; `relay`: reports of usage.
    pub kind: KeyKind,
    /// When it was created.
    #[serde(with = "plain::optional_time", skip_serializing_if = "Option::is_none")]
    pub created_at: Option<SystemTime>,
    /// Until when it works beside its replacement. Absent: it was not rotated.
    #[serde(with = "plain::optional_time", skip_serializing_if = "Option::is_none")]
    pub retires_at: Option<SystemTime>,
    /// When it was revoked or retired. Absent: it was not.
    #[serde(with = "plain::optional_time", skip_serializing_if = "Option::is_none")]
    pub revoked_at: Option<SystemTime>,
}

/// The key to create.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
#[must_use]
pub struct CreateKey {
    /// For your own lists: where it is used.
    pub name: String,
    /// Absent: `backend`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<KeyKind>,
}

impl CreateKey {
    /// A backend key with this name.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            kind: None,
        }
    }

    /// What it is for.
    pub fn kind(mut self, kind: KeyKind) -> Self {
        self.kind = Some(kind);
        self
    }
}

/// A new key.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct CreatedKey {
    /// The key without its secret.
    pub key: ApiKey,
    /// The plaintext, shown once.
    pub api_key: Secret,
}

/// The key to replace.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
#[must_use]
pub struct RotateKey {
    /// The second part of its plaintext.
    #[serde(skip_serializing)]
    pub id: String,
    /// How long the old key still works: whole seconds, at most a week; absent: a day.
    #[serde(
        rename = "overlap_seconds",
        with = "plain::optional_whole_seconds",
        skip_serializing_if = "Option::is_none"
    )]
    pub overlap: Option<Duration>,
}

impl RotateKey {
    /// Replace the key with this id.
    pub fn new(id: impl Into<String>) -> Self {
        Self {
            id: id.into(),
            overlap: None,
        }
    }

    /// How long the old key still works: whole seconds, at most a week.
    pub fn overlap(mut self, overlap: Duration) -> Self {
        self.overlap = Some(overlap);
        self
    }
}

/// The replacement of a key.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct RotatedKey {
    /// The key without its secret.
    pub key: ApiKey,
    /// The plaintext, shown once.
    pub api_key: Secret,
    /// Until when the old key works.
    #[serde(with = "plain::optional_time", skip_serializing_if = "Option::is_none")]
    pub old_key_retires: Option<SystemTime>,
}

/// The key to revoke.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
#[must_use]
pub struct RevokeKey {
    /// The second part of its plaintext.
    pub id: String,
    /// `stop-service`: also the last working key of its kind.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub confirm: Option<String>,
}

impl RevokeKey {
    /// Revoke the key with this id.
    pub fn new(id: impl Into<String>) -> Self {
        Self {
            id: id.into(),
            confirm: None,
        }
    }

    /// Also if it is the last working key of its kind.
    pub fn stop_service(mut self) -> Self {
        self.confirm = Some("stop-service".into());
        self
    }
}

/// The prices in effect.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct RateCard {
    /// In lower case: `usd`.
    pub currency: String,
    /// How a charge comes about, in words.
    pub model: String,
    /// What a GiB of a hosted relay's egress costs the platform.
    pub egress_cost_per_gib: Amount,
    /// Markup on that cost; 1500 is 15 %.
    pub markup_basis_points: i64,
    /// Fee for a GiB of egress, whoever hosts the relay.
    pub platform_fee_per_gib: Amount,
    /// The most that 1000 minutes of one participant cost, by role and tier.
    pub ceiling_per_1000_participant_minutes: Ceilings,
}

/// The most that 1000 minutes of one participant cost, by role.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Ceilings {
    /// Ceilings of hosts.
    pub host: TierCeilings,
    /// Ceilings of the audience.
    pub audience: TierCeilings,
    /// Ceilings of the audience of a broadcast.
    pub broadcast_audience: TierCeilings,
}

/// The most that 1000 minutes of one participant cost, by tier.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct TierCeilings {
    /// At `audio`.
    pub audio: Amount,
    /// At `hd`.
    pub hd: Amount,
    /// At `full_hd`.
    pub full_hd: Amount,
    /// At `2k`.
    #[serde(rename = "2k")]
    pub two_k: Amount,
    /// At `2k_plus`.
    #[serde(rename = "2k_plus")]
    pub two_k_plus: Amount,
}

/// The usage of one participant in one interval.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
#[must_use]
pub struct UsageRecord {
    /// The same for the same participant and interval, on every retry; never used for another.
    pub id: String,
    /// If given, the tenant of the key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tenant: Option<String>,
    /// The room, which the ledger shows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub room: Option<String>,
    /// The participant, which the ledger shows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub participant: Option<String>,
    /// What the participant is in the room: it decides the ceiling.
    pub role: Role,
    /// The sum of all video received at once: it decides the ceiling.
    pub tier: Tier,
    /// How long the participant was connected in the interval.
    pub seconds: i64,
    /// Bytes sent to the participant: they are charged.
    #[serde(default)]
    pub egress_bytes: i64,
    /// Bytes received from the participant.
    #[serde(default)]
    pub ingress_bytes: i64,
}

impl UsageRecord {
    /// `seconds` of a participant. The `id` is the same on every retry, and never used for another interval.
    pub fn new(id: impl Into<String>, role: Role, tier: Tier, seconds: i64) -> Self {
        Self {
            id: id.into(),
            tenant: None,
            room: None,
            participant: None,
            role,
            tier,
            seconds,
            egress_bytes: 0,
            ingress_bytes: 0,
        }
    }

    /// The tenant of the key.
    pub fn tenant(mut self, tenant: impl Into<String>) -> Self {
        self.tenant = Some(tenant.into());
        self
    }

    /// The room, which the ledger shows.
    pub fn room(mut self, room: impl Into<String>) -> Self {
        self.room = Some(room.into());
        self
    }

    /// The participant, which the ledger shows.
    pub fn participant(mut self, participant: impl Into<String>) -> Self {
        self.participant = Some(participant.into());
        self
    }

    /// Bytes sent to the participant: they are charged.
    pub fn egress_bytes(mut self, bytes: i64) -> Self {
        self.egress_bytes = bytes;
        self
    }

    /// Bytes received from the participant.
    pub fn ingress_bytes(mut self, bytes: i64) -> Self {
        self.ingress_bytes = bytes;
        self
    }
}

/// What became of a batch of usage.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct UsageReport {
    /// Records that were charged.
    pub charged: u64,
    /// Records whose id was known already: not charged.
    pub duplicates: u64,
    /// Records accepted and not charged: exempt tenants.
    pub unbilled: u64,
    /// What the batch cost.
    pub total: Amount,
    /// False: admit no new sessions until it is true again.
    pub admitted: bool,
}

/// The tenant to create.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
#[must_use]
pub struct SignUp {
    /// The name of the customer.
    pub name: String,
    /// The address of the customer.
    pub email: String,
}

impl SignUp {
    /// A customer with this name and address.
    pub fn new(name: impl Into<String>, email: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            email: email.into(),
        }
    }
}

/// A new tenant, which pays before it can do anything.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct SignedUp {
    /// The id of the tenant.
    pub tenant: String,
    /// `pending` until the first payment.
    pub status: TenantStatus,
    /// The plaintext of the first backend key, shown once.
    pub api_key: Secret,
    /// The id of this key.
    pub key_id: String,
    /// A page to pay on. Empty when no checkout could be opened.
    pub checkout_url: String,
    /// A reminder that the key is shown once.
    pub note: String,
}
