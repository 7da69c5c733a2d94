//! Types of statements, payments and erasures.

use std::time::SystemTime;

use serde::{Deserialize, Serialize};

use crate::charge_types::UsageSums;
use crate::money::Amount;
use crate::plain;
use crate::rest_types::LedgerKind;
use crate::words::text_words;

text_words! {
    /// Whether the erasure of a person is done.
    pub enum ErasureState {
        /// It goes on in the background.
        Pending => "pending",
        /// Nothing that is stored shows the name any more.
        Done => "done",
    }
}

impl Default for ErasureState {
    fn default() -> Self {
        Self::Unknown(String::new())
    }
}

/// The balance of a month that has a statement.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct ListedStatement {
    /// A month of the calendar in UTC, such as `2026-10`.
    pub month: String,
    /// The balance at the start of the month.
    pub opening: Amount,
    /// The balance at its end.
    pub closing: Amount,
}

/// A statement, and its signature if the month is over.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct SignedStatement {
    /// The statement.
    pub statement: Statement,
    /// The statement, signed: a compact JWS of the type `statement+jwt`, to be verified with the keys of
    /// `/.well-known/statement-keys.json`. Absent: the month is not over.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub jws: Option<String>,
}

/// The account of a month.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Statement {
    /// Of this form: always 1.
    pub version: i64,
    /// The public address of the deployment.
    pub iss: String,
    /// Whose statement it is.
    pub tenant: StatementTenant,
    /// A month of the calendar in UTC.
    pub month: String,
    /// The month is not over.
    pub so_far: bool,
    /// Start of the month.
    #[serde(with = "plain::optional_time", skip_serializing_if = "Option::is_none")]
    pub from: Option<SystemTime>,
    /// End of the month; what happened at that time is not in it.
    #[serde(with = "plain::optional_time", skip_serializing_if = "Option::is_none")]
    pub to: Option<SystemTime>,
    /// Always `usd`.
    pub currency: String,
    /// The balance at the start of the month.
    pub opening: Amount,
    /// What was paid in.
    pub payments: Movements,
    /// Refunds and disputes, and what they gave back.
    pub reversals: Movements,
    /// What the operator gave or took back.
    pub adjustments: Movements,
    /// What usage cost. Unbilled usage moved no balance.
    pub usage: StatementUsage,
    /// The balance at the end: opening, payments, reversals and adjustments, less usage.
    pub closing: Amount,
}

/// Whose statement it is.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct StatementTenant {
    /// The id of the tenant.
    pub id: String,
    /// As given at signup.
    pub name: String,
}

/// Changes of the balance of one kind, in the order of time.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Movements {
    /// The first ones.
    pub entries: Vec<Movement>,
    /// Those that are not listed. Absent: there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub others: Option<FurtherMovements>,
    /// Of all of them.
    pub sum: Amount,
}

/// One change of the balance.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Movement {
    /// When the balance changed.
    #[serde(with = "plain::optional_time", skip_serializing_if = "Option::is_none")]
    pub at: Option<SystemTime>,
    /// What changed the balance.
    pub kind: LedgerKind,
    /// By how much.
    pub amount: Amount,
    /// The provider's id of the payment, refund or dispute; of an adjustment, its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reference: Option<String>,
    /// Why an adjustment was made.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// The payment that was reversed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub payment: Option<String>,
}

/// Movements that are not listed, added up.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct FurtherMovements {
    /// How many.
    pub count: i64,
    /// Of all of them.
    pub sum: Amount,
}

/// What usage cost.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct StatementUsage {
    /// The most expensive first.
    pub rooms: Vec<RoomUsage>,
    /// Those that are not listed. Absent: there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub others: Option<FurtherRooms>,
    /// Of all rooms.
    pub sum: UsageSums,
}

/// Usage of one room.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct RoomUsage {
    /// As reported; empty for records without one.
    pub room: String,
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

/// Rooms that are not listed, added up.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct FurtherRooms {
    /// How many rooms.
    pub rooms: i64,
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

/// From which payment on to list.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
#[must_use]
pub struct ListPayments {
    /// `next_page_token` of the previous page; empty: the first page.
    pub page_token: String,
}

impl ListPayments {
    /// From the newest on.
    pub fn new() -> Self {
        Self::default()
    }

    /// `next_page_token` of the previous page.
    pub fn page_token(mut self, page_token: impl Into<String>) -> Self {
        self.page_token = page_token.into();
        self
    }
}

/// A payment that was credited.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Payment {
    /// The provider's id, which the ledger entries of the payment name.
    pub id: String,
    /// `TopUp`: by checkout; `AutoTopUp`: from the saved card.
    pub kind: LedgerKind,
    /// The credit that was paid for, without tax.
    pub amount: Amount,
    /// What was paid on top of it as tax. Absent: nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tax: Option<Amount>,
    /// How much of the credit refunds and disputes have taken back.
    pub reversed: Amount,
    /// When it was credited.
    #[serde(with = "plain::optional_time", skip_serializing_if = "Option::is_none")]
    pub at: Option<SystemTime>,
}

/// Pages of the payment provider. They expire after at most 30 days.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Receipt {
    /// The receipt, to open in a browser.
    pub url: String,
    /// The invoice, to open in a browser. Absent: there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub invoice_url: Option<String>,
}

/// How far the erasure of a person is.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Erasure {
    /// The id of the erasure.
    pub id: String,
    /// `Done`: nothing that is stored shows the name any more.
    pub state: ErasureState,
    /// Usage records that have lost the name so far.
    pub records: i64,
    /// When it was asked for.
    #[serde(with = "plain::optional_time", skip_serializing_if = "Option::is_none")]
    pub created_at: Option<SystemTime>,
    /// When it was done. Absent: it is pending.
    #[serde(with = "plain::optional_time", skip_serializing_if = "Option::is_none")]
    pub finished_at: Option<SystemTime>,
}
