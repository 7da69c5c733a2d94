//! Types of the audit trail.

use std::time::SystemTime;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::plain;
use crate::words::text_words;

text_words! {
    /// Who makes changes.
    pub enum AuditActorKind {
        /// An API key.
        Key => "key",
        /// An operator of the deployment.
        Operator => "operator",
        /// The service itself.
        System => "system",
    }
}

impl Default for AuditActorKind {
    fn default() -> Self {
        Self::Unknown(String::new())
    }
}

/// Which changes to list.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
#[must_use]
pub struct ListAudit {
    /// Only this action, such as `key_created`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub action: Option<String>,
    /// Only changes of what has this id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
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

impl ListAudit {
    /// All changes.
    pub fn new() -> Self {
        Self::default()
    }

    /// Only this action, such as `key_created`.
    pub fn action(mut self, action: impl Into<String>) -> Self {
        self.action = Some(action.into());
        self
    }

    /// Only changes of what has this id.
    pub fn subject(mut self, subject: impl Into<String>) -> Self {
        self.subject = Some(subject.into());
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

/// One change.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct AuditEntry {
    /// The id of the entry.
    pub id: String,
    /// When it happened.
    #[serde(with = "plain::optional_time", skip_serializing_if = "Option::is_none")]
    pub at: Option<SystemTime>,
    /// Who made the change.
    pub actor: AuditActor,
    /// What was done, such as `key_revoked`. Expect new actions.
    pub action: String,
    /// The id of what was changed. Absent: there is only one of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
    /// What changed, as it was. Absent: there was nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<Map<String, Value>>,
    /// The same as it is now. Absent: there is nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<Map<String, Value>>,
}

/// Who made a change.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct AuditActor {
    /// Who it was.
    pub kind: AuditActorKind,
    /// The id of the key, or the part of the service. Absent: an operator.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// From where the key was used; `(erased)` after 400 days. Absent: no key was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub address: Option<String>,
}
