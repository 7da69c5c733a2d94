//! Types of webhooks, their deliveries, and the events that tenants get.

use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::plain;
use crate::secret::Secret;
use crate::words::text_words;

text_words! {
    /// Whether a webhook gets events.
    pub enum WebhookState {
        /// It gets them.
        Active => "active",
        /// Nothing is delivered, and events wait.
        Paused => "paused",
    }
}

text_words! {
    /// Why a webhook is paused.
    pub enum WebhookPauser {
        /// By a request.
        Tenant => "tenant",
        /// The last attempt of a delivery failed.
        Failing => "failing",
        /// The answer was 410.
        Gone => "gone",
    }
}

text_words! {
    /// Why an event was sent.
    pub enum DeliveryKind {
        /// In order.
        Event => "event",
        /// The test event.
        Test => "test",
        /// It was asked for again.
        Resend => "resend",
    }
}

impl Default for WebhookState {
    fn default() -> Self {
        Self::Unknown(String::new())
    }
}

impl Default for WebhookPauser {
    fn default() -> Self {
        Self::Unknown(String::new())
    }
}

impl Default for DeliveryKind {
    fn default() -> Self {
        Self::Unknown(String::new())
    }
}

/// An endpoint that gets the events of the tenant, without its secret.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Webhook {
    /// The id of the webhook.
    pub id: String,
    /// Where events go.
    pub url: String,
    /// Which types of events it gets. Empty: all.
    pub types: Vec<String>,
    /// As given. May be empty.
    pub description: String,
    /// Whether it gets events.
    pub state: WebhookState,
    /// Why it is paused. Absent: it is active.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub paused_by: Option<WebhookPauser>,
    /// Since when it is paused. Absent: it is active.
    #[serde(with = "plain::optional_time", skip_serializing_if = "Option::is_none")]
    pub paused_at: Option<SystemTime>,
    /// Every wanted event up to this number has been delivered.
    pub delivered_seq: u64,
    /// Failed attempts to deliver the next event.
    pub failures: u64,
    /// When the next event is tried again. Absent: it has not failed, or is not retried.
    #[serde(with = "plain::optional_time", skip_serializing_if = "Option::is_none")]
    pub retry_at: Option<SystemTime>,
    /// When it was created.
    #[serde(with = "plain::optional_time", skip_serializing_if = "Option::is_none")]
    pub created_at: Option<SystemTime>,
}

/// The webhook to create.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
#[must_use]
pub struct CreateWebhook {
    /// Where events go: an `https` URL of the public internet.
    pub url: String,
    /// Which types of events it gets. Empty: all.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub types: Vec<String>,
    /// For your own lists.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub description: String,
}

impl CreateWebhook {
    /// A webhook that gets all events. The URL is an `https` one of the public internet.
    pub fn new(url: impl Into<String>) -> Self {
        Self {
            url: url.into(),
            ..Self::default()
        }
    }

    /// Only these types of events.
    pub fn types(mut self, types: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.types = types.into_iter().map(Into::into).collect();
        self
    }

    /// For your own lists.
    pub fn description(mut self, description: impl Into<String>) -> Self {
        self.description = description.into();
        self
    }
}

/// A new webhook. No later answer has the secret and the public key.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct CreatedWebhook {
    /// The webhook without its secret.
    pub webhook: Webhook,
    /// Verifies the signatures `v1`, by [`verify_webhook`](crate::verify_webhook).
    pub secret: Secret,
    /// Verifies the signatures `v1a`, and may be public.
    pub public_key: String,
}

/// What to change of a webhook. What is left out keeps its value.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
#[must_use]
pub struct ChangeWebhook {
    /// The id of the webhook.
    #[serde(skip_serializing)]
    pub id: String,
    /// Where events go. Another URL is tried at once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// Which types of events it gets. Empty: all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub types: Option<Vec<String>>,
    /// For your own lists.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// `true`: deliver nothing for now; `false`: go on at once, where the deliveries stopped.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub paused: Option<bool>,
}

impl ChangeWebhook {
    /// Change the webhook with this id.
    pub fn new(id: impl Into<String>) -> Self {
        Self {
            id: id.into(),
            ..Self::default()
        }
    }

    /// Where events go. Another URL is tried at once.
    pub fn url(mut self, url: impl Into<String>) -> Self {
        self.url = Some(url.into());
        self
    }

    /// Which types of events it gets. None: all.
    pub fn types(mut self, types: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.types = Some(types.into_iter().map(Into::into).collect());
        self
    }

    /// For your own lists.
    pub fn description(mut self, description: impl Into<String>) -> Self {
        self.description = Some(description.into());
        self
    }

    /// `true`: deliver nothing for now; `false`: go on at once, where the deliveries stopped.
    pub fn paused(mut self, paused: bool) -> Self {
        self.paused = Some(paused);
        self
    }
}

/// The webhook whose secret to replace.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
#[must_use]
pub struct RotateWebhookSecret {
    /// The id of the webhook.
    #[serde(skip_serializing)]
    pub id: String,
    /// How long the old secrets sign too: whole seconds, at most a week; absent: a day.
    #[serde(
        rename = "overlap_seconds",
        with = "plain::optional_whole_seconds",
        skip_serializing_if = "Option::is_none"
    )]
    pub overlap: Option<Duration>,
}

impl RotateWebhookSecret {
    /// Replace the secret of the webhook with this id.
    pub fn new(id: impl Into<String>) -> Self {
        Self {
            id: id.into(),
            overlap: None,
        }
    }

    /// How long the old secrets sign too: whole seconds, at most a week.
    pub fn overlap(mut self, overlap: Duration) -> Self {
        self.overlap = Some(overlap);
        self
    }
}

/// The replacement of a secret. No later answer has it.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct RotatedWebhookSecret {
    /// The webhook without its secret.
    pub webhook: Webhook,
    /// Verifies the signatures `v1`, by [`verify_webhook`](crate::verify_webhook).
    pub secret: Secret,
    /// Verifies the signatures `v1a`, and may be public.
    pub public_key: String,
    /// Until when the old secrets sign too.
    #[serde(with = "plain::optional_time", skip_serializing_if = "Option::is_none")]
    pub old_secret_retires: Option<SystemTime>,
}

/// Which attempts to list.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
#[must_use]
pub struct ListDeliveries {
    /// The id of the webhook.
    pub id: String,
    /// 1 to 500; 0 is 100.
    pub page_size: i32,
    /// `next_page_token` of the previous page; empty: the first page.
    pub page_token: String,
}

impl ListDeliveries {
    /// All that are kept of the webhook with this id.
    pub fn new(id: impl Into<String>) -> Self {
        Self {
            id: id.into(),
            ..Self::default()
        }
    }

    /// 1 to 500; 0 is 100.
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

/// An attempt to send an event.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Delivery {
    /// The id of the attempt.
    pub id: String,
    /// Why the event was sent.
    pub kind: DeliveryKind,
    /// The id of the event, which is the header `webhook-id`.
    pub event_id: String,
    /// The number of the event. Absent: a test.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seq: Option<u64>,
    /// The type of the event, or `webhook_test`.
    #[serde(rename = "type")]
    pub event_type: String,
    /// Counts the attempts to deliver the event in a row, from 1.
    pub attempt: u64,
    /// The answer had a status from 200 to 299.
    pub delivered: bool,
    /// Of the answer. Absent: there was none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// Why there was no answer. Absent: there was one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// The first 1024 characters of the answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answer: Option<String>,
    /// From the start of the request to its outcome.
    pub latency_ms: u64,
    /// When the outcome was known.
    #[serde(with = "plain::optional_time", skip_serializing_if = "Option::is_none")]
    pub at: Option<SystemTime>,
}

/// Something that happened to the tenant, as webhooks and `pull_events` have it.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct WebhookEvent {
    /// The same wherever the event appears: keep each id once.
    pub id: String,
    /// The number of the event, from 1; 0 for a test.
    pub seq: u64,
    /// What happened, such as `balance_low`. Expect new types.
    #[serde(rename = "type")]
    pub event_type: String,
    /// When it happened.
    #[serde(with = "plain::optional_time", skip_serializing_if = "Option::is_none")]
    pub timestamp: Option<SystemTime>,
    /// So many events before this one were deleted before the webhook could get them. Absent: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub skipped: Option<u64>,
    /// What it happened to, as it was right after. Depends on the type; expect new members.
    pub data: Map<String, Value>,
}

/// Where to begin, and how long to wait.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
#[must_use]
pub struct PullEvents {
    /// The number of an event: only later ones. Absent: from the oldest event that is kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<u64>,
    /// Only these types of events; empty: all.
    pub types: Vec<String>,
    /// 1 to 1000; 0 is 100.
    pub limit: i32,
    /// How long to wait for an event if there is none: whole seconds, up to 20; absent: do not wait.
    #[serde(
        rename = "wait_seconds",
        with = "plain::optional_whole_seconds",
        skip_serializing_if = "Option::is_none"
    )]
    pub wait: Option<Duration>,
}

impl PullEvents {
    /// From the oldest event that is kept.
    pub fn new() -> Self {
        Self::default()
    }

    /// Only events after the one with this number, such as `after` of the last answer.
    pub fn after(mut self, after: u64) -> Self {
        self.after = Some(after);
        self
    }

    /// Only these types of events.
    pub fn types(mut self, types: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.types = types.into_iter().map(Into::into).collect();
        self
    }

    /// 1 to 1000; 0 is 100.
    pub fn limit(mut self, limit: i32) -> Self {
        self.limit = limit;
        self
    }

    /// How long to wait for an event if there is none: whole seconds, up to 20.
    pub fn wait(mut self, wait: Duration) -> Self {
        self.wait = Some(wait);
        self
    }
}

/// Events in order, and where to go on.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct PulledEvents {
    /// The events, in order. There may be none.
    pub events: Vec<WebhookEvent>,
    /// `after` of the next request.
    pub after: u64,
    /// There are more, or may be: ask again at once.
    pub more: bool,
}
