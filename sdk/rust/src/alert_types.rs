//! Types of alerts, of the runway, and of the mail about the account.

use std::time::SystemTime;

use serde::{Deserialize, Serialize};

use crate::money::{Amount, Micros};
use crate::plain;
use crate::words::text_words;

text_words! {
    /// What a threshold is about.
    pub enum ThresholdKind {
        /// An amount of credit.
        Balance => "balance",
        /// Hours that the credit lasts.
        Runway => "runway",
    }
}

text_words! {
    /// Hours or days up to now.
    pub enum RunwayWindow {
        /// The last hour.
        Hour => "1h",
        /// The last 24 hours.
        Day => "24h",
        /// The last 7 days.
        Week => "7d",
    }
}

impl Default for ThresholdKind {
    fn default() -> Self {
        Self::Unknown(String::new())
    }
}

impl Default for RunwayWindow {
    fn default() -> Self {
        Self::Unknown(String::new())
    }
}

/// A threshold below which the tenant is alerted.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct AlertThreshold {
    /// What it is about.
    pub kind: ThresholdKind,
    /// For `Balance`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub below_micros: Option<Micros>,
    /// For `Runway`: hours.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub below_hours: Option<i64>,
    /// Since when the balance is below it. Absent: it is not.
    #[serde(with = "plain::optional_time", skip_serializing_if = "Option::is_none")]
    pub raised_at: Option<SystemTime>,
}

/// A threshold to set.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
#[must_use]
pub struct SetAlertThreshold {
    /// What it is about.
    pub kind: ThresholdKind,
    /// For `Balance`: 0 to 9007199254740991.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub below_micros: Option<Micros>,
    /// For `Runway`: 1 to 8760 hours.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub below_hours: Option<i64>,
}

impl SetAlertThreshold {
    /// Alert when the balance is below this amount.
    pub fn balance(below: Micros) -> Self {
        Self {
            kind: ThresholdKind::Balance,
            below_micros: Some(below),
            below_hours: None,
        }
    }

    /// Alert when the balance lasts less than so many hours: 1 to 8760.
    pub fn runway(below_hours: i64) -> Self {
        Self {
            kind: ThresholdKind::Runway,
            below_micros: None,
            below_hours: Some(below_hours),
        }
    }
}

/// To set thresholds again as they are.
impl From<AlertThreshold> for SetAlertThreshold {
    fn from(threshold: AlertThreshold) -> Self {
        Self {
            kind: threshold.kind,
            below_micros: threshold.below_micros,
            below_hours: threshold.below_hours,
        }
    }
}

/// Over which window to add rooms up.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
#[must_use]
pub struct GetRunway {
    /// Absent: the last 24 hours.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window: Option<RunwayWindow>,
}

impl GetRunway {
    /// Rooms of the last 24 hours.
    pub fn new() -> Self {
        Self::default()
    }

    /// Rooms of this window.
    pub fn window(mut self, window: RunwayWindow) -> Self {
        self.window = Some(window);
        self
    }
}

/// How long the credit lasts, and which rooms use most of it.
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Runway {
    /// The instant that the answer is about.
    #[serde(with = "plain::optional_time", skip_serializing_if = "Option::is_none")]
    pub at: Option<SystemTime>,
    /// Prepaid credit that is left; may be negative.
    pub balance: Amount,
    /// Nothing is left: the balance is 0 or less.
    pub empty: bool,
    /// For each window.
    pub burn: Vec<Burn>,
    /// The rooms that took most.
    pub rooms: RunwayRooms,
}

/// What usage takes, and how long the balance lasts if it goes on like this.
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Burn {
    /// The hours or days up to now.
    pub window: RunwayWindow,
    /// What usage took in them.
    pub spent: Amount,
    /// The same for an hour, rounded up.
    pub per_hour: Amount,
    /// How long the balance lasts at this rate; 0: it is spent. Absent: nothing is used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub runway_hours: Option<f64>,
    /// When it is spent. Absent: it is spent already, or never, or after the year 9999.
    #[serde(with = "plain::optional_time", skip_serializing_if = "Option::is_none")]
    pub empty_at: Option<SystemTime>,
}

/// The rooms that took most in a window.
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct RunwayRooms {
    /// As asked for.
    pub window: RunwayWindow,
    /// The start of the hour in which the window begins: rooms are added up by hours.
    #[serde(with = "plain::optional_time", skip_serializing_if = "Option::is_none")]
    pub from: Option<SystemTime>,
    /// What all rooms took since then.
    pub spent: Amount,
    /// At most ten, the most expensive first.
    pub top: Vec<RoomShare>,
}

/// What a room took.
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct RoomShare {
    /// As reported; empty for records without one.
    pub room: String,
    /// What its usage took.
    pub amount: Amount,
    /// Of what all rooms took: 0 to 1.
    pub share: f64,
}

/// Who gets mail about the account.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct MailSettings {
    /// Whether `email` gets mail.
    pub signup_address: bool,
    /// The address given at signup.
    pub email: String,
    /// Further addresses that get mail.
    pub addresses: Vec<String>,
    /// Whether mails tell about what needs attention, such as a low balance.
    pub alerts: bool,
    /// Whether mails confirm payments.
    pub receipts: bool,
    /// Addresses in lower case whose owners want no alerts. Only a link in an alert changes that.
    pub unsubscribed: Vec<String>,
}

/// Settings of the mail about the account, in place of all earlier ones.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
#[must_use]
pub struct SetMail {
    /// Up to five addresses in ASCII, besides the one given at signup.
    pub addresses: Vec<String>,
    /// Whether mails tell about what needs attention.
    pub alerts: bool,
    /// Whether mails confirm payments.
    pub receipts: bool,
    /// Whether the address given at signup gets mail.
    pub signup_address: bool,
}

impl Default for SetMail {
    /// What holds until it is changed.
    fn default() -> Self {
        Self {
            addresses: Vec::new(),
            alerts: true,
            receipts: true,
            signup_address: true,
        }
    }
}

impl SetMail {
    /// Alerts and receipts for the address given at signup.
    pub fn new() -> Self {
        Self::default()
    }

    /// Further addresses that get mail: up to five, in ASCII.
    pub fn addresses(mut self, addresses: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.addresses = addresses.into_iter().map(Into::into).collect();
        self
    }

    /// Whether mails tell about what needs attention.
    pub fn alerts(mut self, alerts: bool) -> Self {
        self.alerts = alerts;
        self
    }

    /// Whether mails confirm payments.
    pub fn receipts(mut self, receipts: bool) -> Self {
        self.receipts = receipts;
        self
    }

    /// Whether the address given at signup gets mail.
    pub fn signup_address(mut self, signup_address: bool) -> Self {
        self.signup_address = signup_address;
        self
    }
}

/// To change some of the settings.
impl From<MailSettings> for SetMail {
    fn from(settings: MailSettings) -> Self {
        Self {
            addresses: settings.addresses,
            alerts: settings.alerts,
            receipts: settings.receipts,
            signup_address: settings.signup_address,
        }
    }
}
