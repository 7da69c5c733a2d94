//! What requests of the REST interface have beside the members and setters that are generated.

use crate::generated::rest::{
    AlertThreshold, MailSettings, RevokeKey, SetAlertThreshold, SetAutoTopUp, SetMail,
    ThresholdKind,
};
use crate::money::Micros;

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
