//! Types of charges: the ledger, usage records, sums of usage, and prices of rooms that are made up.

use std::time::SystemTime;

use serde::{Deserialize, Serialize};

use crate::money::Amount;
use crate::plain;
use crate::rest_types::{LedgerKind, Role, Tier};
use crate::words::text_words;

text_words! {
    /// By what usage is summed up.
    pub enum UsageGrouping {
        /// By the hour. Not together with `Day`.
        Hour => "hour",
        /// By the day, UTC.
        Day => "day",
        /// By the room.
        Room => "room",
        /// By the role.
        Role => "role",
        /// By the tier.
        Tier => "tier",
    }
}

text_words! {
    /// What makes the price of a record.
    pub enum ChargeLimit {
        /// The platform fee.
        Fee => "fee",
        /// The ceiling.
        Ceiling => "ceiling",
    }
}

text_words! {
    /// What becomes of fractions of a micro.
    pub enum Rounding {
        /// They go to the next charge.
        Carry => "carry",
        /// Each record is rounded.
        PerRecord => "per_record",
    }
}

text_words! {
    /// What became of the id of a record.
    pub enum LookupOutcome {
        /// It was charged.
        Charged => "charged",
        /// It was accepted while the tenant was exempt.
        Unbilled => "unbilled",
        /// It was never accepted: report it.
        NeverAccepted => "unknown",
    }
}

impl Default for ChargeLimit {
    fn default() -> Self {
        Self::Unknown(String::new())
    }
}

impl Default for Rounding {
    fn default() -> Self {
        Self::Unknown(String::new())
    }
}

impl Default for LookupOutcome {
    fn default() -> Self {
        Self::Unknown(String::new())
    }
}

/// Which entries of the ledger to list.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
#[must_use]
pub struct ListLedger {
    /// Only these kinds; empty: all.
    pub kinds: Vec<LedgerKind>,
    /// Only usage of this room; empty: only usage without one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub room: Option<String>,
    /// Only usage of this participant.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub participant: Option<String>,
    /// Only changes at this time or later.
    #[serde(with = "plain::optional_time", skip_serializing_if = "Option::is_none")]
    pub from: Option<SystemTime>,
    /// Only changes before this time.
    #[serde(with = "plain::optional_time", skip_serializing_if = "Option::is_none")]
    pub to: Option<SystemTime>,
    /// 1 to 1000; 0 is 100.
    pub page_size: i32,
    /// `next_page_token` of the previous page; empty: the first page.
    pub page_token: String,
}

impl ListLedger {
    /// All entries.
    pub fn new() -> Self {
        Self::default()
    }

    /// Only these kinds.
    pub fn kinds(mut self, kinds: impl IntoIterator<Item = LedgerKind>) -> Self {
        self.kinds = kinds.into_iter().collect();
        self
    }

    /// Only usage of this room; empty: only usage without one.
    pub fn room(mut self, room: impl Into<String>) -> Self {
        self.room = Some(room.into());
        self
    }

    /// Only usage of this participant.
    pub fn participant(mut self, participant: impl Into<String>) -> Self {
        self.participant = Some(participant.into());
        self
    }

    /// Only changes at this time or later.
    pub fn from(mut self, from: SystemTime) -> Self {
        self.from = Some(from);
        self
    }

    /// Only changes before this time.
    pub fn to(mut self, to: SystemTime) -> Self {
        self.to = Some(to);
        self
    }

    /// 1 to 1000; 0 is 100.
    pub fn page_size(mut self, page_size: i32) -> Self {
        self.page_size = page_size;
        self
    }

    /// `next_page_token` of the previous page.
    pub fn page_token(mut self, page_token: impl Into<String>) -> Self {
        self.page_token = page_token.into();
        self
    }
}

/// Which usage records to list.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
#[must_use]
pub struct ListUsageRecords {
    /// Only this room; empty: only records without one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub room: Option<String>,
    /// Only this participant.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub participant: Option<String>,
    /// Only this role.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub role: Option<Role>,
    /// Only this tier.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tier: Option<Tier>,
    /// Only what was charged at this time or later.
    #[serde(with = "plain::optional_time", skip_serializing_if = "Option::is_none")]
    pub from: Option<SystemTime>,
    /// Only what was charged before this time.
    #[serde(with = "plain::optional_time", skip_serializing_if = "Option::is_none")]
    pub to: Option<SystemTime>,
    /// 1 to 1000; 0 is 100.
    pub page_size: i32,
    /// `next_page_token` of the previous page; empty: the first page.
    pub page_token: String,
}

impl ListUsageRecords {
    /// All records.
    pub fn new() -> Self {
        Self::default()
    }

    /// Only this room; empty: only records without one.
    pub fn room(mut self, room: impl Into<String>) -> Self {
        self.room = Some(room.into());
        self
    }

    /// Only this participant.
    pub fn participant(mut self, participant: impl Into<String>) -> Self {
        self.participant = Some(participant.into());
        self
    }

    /// Only this role.
    pub fn role(mut self, role: Role) -> Self {
        self.role = Some(role);
        self
    }

    /// Only this tier.
    pub fn tier(mut self, tier: Tier) -> Self {
        self.tier = Some(tier);
        self
    }

    /// Only what was charged at this time or later.
    pub fn from(mut self, from: SystemTime) -> Self {
        self.from = Some(from);
        self
    }

    /// Only what was charged before this time.
    pub fn to(mut self, to: SystemTime) -> Self {
        self.to = Some(to);
        self
    }

    /// 1 to 1000; 0 is 100.
    pub fn page_size(mut self, page_size: i32) -> Self {
        self.page_size = page_size;
        self
    }

    /// `next_page_token` of the previous page.
    pub fn page_token(mut self, page_token: impl Into<String>) -> Self {
        self.page_token = page_token.into();
        self
    }
}

/// A usage record, and what it cost.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct ChargedRecord {
    /// As reported.
    pub id: String,
    /// As reported. Absent: there was none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub room: Option<String>,
    /// As reported. Absent: there was none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub participant: Option<String>,
    /// As reported.
    pub role: Role,
    /// As reported.
    pub tier: Tier,
    /// As reported.
    pub seconds: i64,
    /// As reported.
    pub egress_bytes: i64,
    /// As reported.
    pub ingress_bytes: i64,
    /// What it cost; for an unbilled record, what it would have cost.
    pub total: Amount,
    /// The ceiling limited the charge.
    pub capped: bool,
    /// The tenant was exempt, so it was not charged.
    pub unbilled: bool,
    /// When it was charged.
    #[serde(with = "plain::optional_time", skip_serializing_if = "Option::is_none")]
    pub at: Option<SystemTime>,
}

/// Which page of conflicts to list.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
#[must_use]
pub struct ListUsageConflicts {
    /// 1 to 1000; 0 is 100.
    pub page_size: i32,
    /// `next_page_token` of the previous page; empty: the first page.
    pub page_token: String,
}

impl ListUsageConflicts {
    /// From the newest on.
    pub fn new() -> Self {
        Self::default()
    }

    /// 1 to 1000; 0 is 100.
    pub fn page_size(mut self, page_size: i32) -> Self {
        self.page_size = page_size;
        self
    }

    /// `next_page_token` of the previous page.
    pub fn page_token(mut self, page_token: impl Into<String>) -> Self {
        self.page_token = page_token.into();
        self
    }
}

/// An id that was reported again with other values.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct UsageConflict {
    /// The id of the record.
    pub id: String,
    /// How often it was reported with other values.
    pub times: i64,
    /// When this happened first.
    #[serde(with = "plain::optional_time", skip_serializing_if = "Option::is_none")]
    pub first_at: Option<SystemTime>,
    /// When this happened last.
    #[serde(with = "plain::optional_time", skip_serializing_if = "Option::is_none")]
    pub last_at: Option<SystemTime>,
    /// The first report, which was charged.
    pub charged: ReportedUsage,
    /// The latest of the others, which were not charged.
    pub reported: ReportedUsage,
}

/// What a relay reported for an id.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct ReportedUsage {
    /// As reported. Absent: there was none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub room: Option<String>,
    /// As reported. Absent: there was none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub participant: Option<String>,
    /// As reported.
    pub role: Role,
    /// As reported.
    pub tier: Tier,
    /// As reported.
    pub seconds: i64,
    /// As reported.
    pub egress_bytes: i64,
    /// As reported.
    pub ingress_bytes: i64,
}

/// Which usage to sum up.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
#[must_use]
pub struct SummarizeUsage {
    /// A row for each combination of these; empty: one row.
    pub group_by: Vec<UsageGrouping>,
    /// Start of the period, a whole hour. Absent: 30 days before `to`.
    #[serde(with = "plain::optional_time", skip_serializing_if = "Option::is_none")]
    pub from: Option<SystemTime>,
    /// End of the period, a whole hour. Absent: the end of this hour.
    #[serde(with = "plain::optional_time", skip_serializing_if = "Option::is_none")]
    pub to: Option<SystemTime>,
    /// Only this room; empty: only records without one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub room: Option<String>,
    /// How many rows at once: 1 to 1000; 0 is 100.
    pub limit: i32,
    /// `next_cursor` of the previous page, which needs its `from` and `to` too; empty: the first page.
    pub cursor: String,
}

impl SummarizeUsage {
    /// All usage of the last 30 days, in one row.
    pub fn new() -> Self {
        Self::default()
    }

    /// A row for each combination of these.
    pub fn group_by(mut self, group_by: impl IntoIterator<Item = UsageGrouping>) -> Self {
        self.group_by = group_by.into_iter().collect();
        self
    }

    /// Start of the period, a whole hour.
    pub fn from(mut self, from: SystemTime) -> Self {
        self.from = Some(from);
        self
    }

    /// End of the period, a whole hour.
    pub fn to(mut self, to: SystemTime) -> Self {
        self.to = Some(to);
        self
    }

    /// Only this room; empty: only records without one.
    pub fn room(mut self, room: impl Into<String>) -> Self {
        self.room = Some(room.into());
        self
    }

    /// How many rows at once: 1 to 1000; 0 is 100.
    pub fn limit(mut self, limit: i32) -> Self {
        self.limit = limit;
        self
    }

    /// `next_cursor` of the previous page, which needs its `from` and `to` too.
    pub fn cursor(mut self, cursor: impl Into<String>) -> Self {
        self.cursor = cursor.into();
        self
    }
}

/// A page of sums, and the sum of all pages.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct UsageSummary {
    /// Start of the period.
    #[serde(with = "plain::optional_time", skip_serializing_if = "Option::is_none")]
    pub from: Option<SystemTime>,
    /// End of the period.
    #[serde(with = "plain::optional_time", skip_serializing_if = "Option::is_none")]
    pub to: Option<SystemTime>,
    /// The groups.
    pub rows: Vec<UsageRow>,
    /// Of all groups, on every page.
    pub sum: UsageSums,
    /// The cursor of the next page. Absent: there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

/// One group of usage.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct UsageRow {
    /// Start of the hour. Only if grouped by hour.
    #[serde(with = "plain::optional_time", skip_serializing_if = "Option::is_none")]
    pub hour: Option<SystemTime>,
    /// Start of the day, UTC. Only if grouped by day.
    #[serde(with = "plain::optional_time", skip_serializing_if = "Option::is_none")]
    pub day: Option<SystemTime>,
    /// Empty for records without one. Only if grouped by room.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub room: Option<String>,
    /// Only if grouped by role.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub role: Option<Role>,
    /// Only if grouped by tier.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tier: Option<Tier>,
    /// Records, charged and unbilled.
    pub records: i64,
    /// Seconds that participants were connected.
    pub seconds: i64,
    /// Bytes sent to participants. 64 bits may be too few for them.
    pub egress_bytes: u128,
    /// Bytes received from participants. 64 bits may be too few for them.
    pub ingress_bytes: u128,
    /// What was charged.
    pub total: Amount,
    /// What would have been charged, while the tenant was exempt.
    pub unbilled: Amount,
}

/// Sums of usage.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct UsageSums {
    /// Records, charged and unbilled.
    pub records: i64,
    /// Seconds that participants were connected.
    pub seconds: i64,
    /// Bytes sent to participants. 64 bits may be too few for them.
    pub egress_bytes: u128,
    /// Bytes received from participants. 64 bits may be too few for them.
    pub ingress_bytes: u128,
    /// What was charged.
    pub total: Amount,
    /// What would have been charged, while the tenant was exempt.
    pub unbilled: Amount,
}

/// A charge, and how it came about.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct ExplainedUsage {
    /// The record.
    pub record: ChargedRecord,
    /// The calculation, step by step.
    pub explanation: ChargeExplanation,
    /// The change of the balance that this record is part of.
    pub posting: UsagePosting,
}

/// The calculation of a charge, step by step. Texts are decimals.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct ChargeExplanation {
    /// `egress_bytes` in GiB, rounded to 12 decimals.
    pub egress_gib: String,
    /// Of the rate card.
    pub platform_fee_per_gib: Amount,
    /// `egress_gib` times the platform fee, in micros.
    pub fee: String,
    /// `seconds` in minutes, rounded to 12 decimals.
    pub minutes: String,
    /// Of the rate card, for the role and the tier.
    pub ceiling_per_1000_minutes: Amount,
    /// A thousandth of it for every minute, in micros.
    pub ceiling: String,
    /// The smaller of the two, which is the price.
    pub limited_by: ChargeLimit,
    /// The price, in micros.
    pub price: String,
    /// The fraction that earlier charges left over, in micros.
    pub carry_before: String,
    /// The fraction that is left for the next charge, in micros.
    pub carry_after: String,
    /// What becomes of fractions of a micro.
    pub rounding: Rounding,
    /// Version of the rate card.
    pub rate_card: i64,
    /// Version of the pricing rule.
    pub rule: i64,
}

/// A change of the balance by records that were charged together.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct UsagePosting {
    /// Its number in the ledger.
    pub seq: i64,
    /// How many records were charged together.
    pub records: i64,
    /// By how much they changed the balance.
    pub amount: Amount,
    /// When.
    #[serde(with = "plain::optional_time", skip_serializing_if = "Option::is_none")]
    pub at: Option<SystemTime>,
}

/// What became of the id of a record.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct LookedUpRecord {
    /// As asked.
    pub id: String,
    /// What became of it.
    pub outcome: LookupOutcome,
    /// What it cost, or would have cost if it is unbilled. Absent: it is unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total: Option<Amount>,
    /// When it was charged. Absent: it is unknown.
    #[serde(with = "plain::optional_time", skip_serializing_if = "Option::is_none")]
    pub at: Option<SystemTime>,
}

/// An exact amount of money.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct ExactAmount {
    /// In micros, rounded to 13 decimals: `558.7935447692871`.
    pub decimal: String,
    /// Exact: `numerator` / `denominator` micros. An integer of any length.
    pub numerator: String,
    /// The same for all exact amounts.
    pub denominator: String,
}

/// Participants who are alike, in a room that is to be priced.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
#[must_use]
pub struct SimulatedParticipants {
    /// What they are in the room: it decides the ceiling.
    pub role: Role,
    /// The sum of all video that each receives at once: it decides the ceiling.
    pub tier: Tier,
    /// How many participants are like this, at least 1.
    pub count: i64,
    /// How long each of them is connected.
    pub seconds: i64,
    /// Bytes sent to each of them.
    #[serde(default)]
    pub egress_bytes: i64,
    /// The interval that the relay reports. Absent: one record for the whole time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval_seconds: Option<i64>,
}

impl SimulatedParticipants {
    /// `count` participants, each of whom is connected for `seconds`.
    pub fn new(role: Role, tier: Tier, count: i64, seconds: i64) -> Self {
        Self {
            role,
            tier,
            count,
            seconds,
            egress_bytes: 0,
            interval_seconds: None,
        }
    }

    /// Bytes sent to each of them.
    pub fn egress_bytes(mut self, bytes: i64) -> Self {
        self.egress_bytes = bytes;
        self
    }

    /// The interval that the relay reports.
    pub fn interval_seconds(mut self, seconds: i64) -> Self {
        self.interval_seconds = Some(seconds);
        self
    }
}

/// What a room would cost.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Simulation {
    /// The version of the rate card in effect.
    pub rate_version: i64,
    /// The version of the pricing rule.
    pub rule_version: i64,
    /// What becomes of fractions of a micro.
    pub rounding: Rounding,
    /// One for each of the request, in order.
    pub lines: Vec<SimulatedLine>,
    /// Of all lines.
    pub participants: i64,
    /// Of all lines.
    pub records: i64,
    /// The exact price of all lines.
    pub price: ExactAmount,
    /// What the room costs: the sum of the amounts of all lines.
    pub total: Amount,
    /// The fraction that the tenant's charges have left over.
    pub carry_before: ExactAmount,
    /// The fraction that this charge would leave over.
    pub carry_after: ExactAmount,
    /// Usage of this tenant is priced and not charged.
    pub exempt: bool,
    /// Prepaid credit now.
    pub balance: Amount,
    /// Prepaid credit after this charge, without any top-up.
    pub balance_after: Amount,
    /// The credit is enough.
    pub covered: bool,
}

/// What participants who are alike would cost.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct SimulatedLine {
    /// As given in `count`.
    pub participants: i64,
    /// Usage records that a relay would report for them.
    pub records: i64,
    /// The platform fee on their egress.
    pub fee: ExactAmount,
    /// The ceiling for their time.
    pub ceiling: ExactAmount,
    /// The ceiling is lower than the fee and makes the price.
    pub capped: bool,
    /// The lower of the two.
    pub price: ExactAmount,
    /// The price in whole micros, after the lines before it.
    pub amount: Amount,
}
