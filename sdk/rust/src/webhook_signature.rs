//! Whether a request to a webhook is from the service.

use std::fmt;
use std::time::{SystemTime, UNIX_EPOCH};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use http::{HeaderMap, HeaderValue};
use ring::hmac;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::generated::rest::WebhookEvent;
use crate::plain;

/// Timestamps that differ more from the present are refused.
const SECONDS_MAX: u64 = 300;

/// Why a request to a webhook is refused. Answer with 401, but for `BadSecret`, which is a mistake of the receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum WebhookRefusal {
    /// There is no secret, or one is not `whsec_` and base64.
    BadSecret,
    /// `webhook-id`, `webhook-timestamp` or `webhook-signature` is missing, empty, or given
    /// more than once.
    MissingHeader,
    /// `webhook-timestamp` is not a number of seconds.
    BadTimestamp,
    /// `webhook-timestamp` is more than 5 minutes from now, either way.
    Stale,
    /// No signature of the version `v1` is by one of the secrets.
    BadSignature,
    /// It is signed, but it is no event.
    BadBody,
}

impl WebhookRefusal {
    /// The code, such as `BAD_SIGNATURE`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::BadSecret => "BAD_SECRET",
            Self::MissingHeader => "MISSING_HEADER",
            Self::BadTimestamp => "BAD_TIMESTAMP",
            Self::Stale => "STALE",
            Self::BadSignature => "BAD_SIGNATURE",
            Self::BadBody => "BAD_BODY",
        }
    }

    /// For logs.
    #[must_use]
    pub const fn message(self) -> &'static str {
        match self {
            Self::BadSecret => "secrets must be one or more texts: whsec_ and base64",
            Self::MissingHeader => {
                "webhook-id, webhook-timestamp and webhook-signature must be given, each once"
            }
            Self::BadTimestamp => "webhook-timestamp must be whole seconds since 1970",
            Self::Stale => "webhook-timestamp is more than 5 minutes from now",
            Self::BadSignature => "no v1 signature is that of a secret",
            Self::BadBody => {
                "the body is signed, but is no event; verify_webhook_events reads a list of events"
            }
        }
    }
}

impl fmt::Display for WebhookRefusal {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str(self.message())
    }
}

impl std::error::Error for WebhookRefusal {}

/// The event of a request to a webhook, if the service sent it within the last 5 minutes. `body` is what
/// arrived, byte for byte. Give the secrets of the webhook: during a rotation the old one and the new one.
///
/// An event may come more than once: keep each [`id`](WebhookEvent::id) once.
pub fn verify_webhook(
    secrets: impl IntoIterator<Item = impl AsRef<str>>,
    headers: &HeaderMap,
    body: &[u8],
) -> Result<WebhookEvent, WebhookRefusal> {
    verify_webhook_at(SystemTime::now(), secrets, headers, body)
}

/// The same as [`verify_webhook`] at another time than now, for tests.
pub fn verify_webhook_at(
    now: SystemTime,
    secrets: impl IntoIterator<Item = impl AsRef<str>>,
    headers: &HeaderMap,
    body: &[u8],
) -> Result<WebhookEvent, WebhookRefusal> {
    verify_signature_at(now, secrets, headers, body)?;
    let event = serde_json::from_slice::<Body>(body).ok();
    event
        .and_then(Body::into_event)
        .ok_or(WebhookRefusal::BadBody)
}

/// The same as [`verify_webhook`] for a webhook that gets several events in a request (`max_batch`): all of them, in order.
/// A body that is one event is one, too. Answer 2xx once all are stored: after another answer they come again.
pub fn verify_webhook_events(
    secrets: impl IntoIterator<Item = impl AsRef<str>>,
    headers: &HeaderMap,
    body: &[u8],
) -> Result<Vec<WebhookEvent>, WebhookRefusal> {
    verify_webhook_events_at(SystemTime::now(), secrets, headers, body)
}

/// The same as [`verify_webhook_events`] at another time than now, for tests.
pub fn verify_webhook_events_at(
    now: SystemTime,
    secrets: impl IntoIterator<Item = impl AsRef<str>>,
    headers: &HeaderMap,
    body: &[u8],
) -> Result<Vec<WebhookEvent>, WebhookRefusal> {
    verify_signature_at(now, secrets, headers, body)?;
    read_events(body).ok_or(WebhookRefusal::BadBody)
}

/// The same as [`verify_webhook`] without reading the body: for `CloudEvents`, which have libraries of their own.
pub fn verify_webhook_signature(
    secrets: impl IntoIterator<Item = impl AsRef<str>>,
    headers: &HeaderMap,
    body: &[u8],
) -> Result<(), WebhookRefusal> {
    verify_signature_at(SystemTime::now(), secrets, headers, body)
}

fn verify_signature_at(
    now: SystemTime,
    secrets: impl IntoIterator<Item = impl AsRef<str>>,
    headers: &HeaderMap,
    body: &[u8],
) -> Result<(), WebhookRefusal> {
    let keys: Option<Vec<hmac::Key>> = secrets
        .into_iter()
        .map(|secret| key_of(secret.as_ref()))
        .collect();
    let keys = keys
        .filter(|keys| !keys.is_empty())
        .ok_or(WebhookRefusal::BadSecret)?;
    let header = |name| only(headers, name).ok_or(WebhookRefusal::MissingHeader);
    let (id, timestamp, signatures) = (
        header("webhook-id")?,
        header("webhook-timestamp")?,
        header("webhook-signature")?,
    );
    let sent_at = read_timestamp(timestamp).ok_or(WebhookRefusal::BadTimestamp)?;
    let now = now.duration_since(UNIX_EPOCH).unwrap_or_default();
    if now.as_secs().abs_diff(sent_at) > SECONDS_MAX {
        return Err(WebhookRefusal::Stale);
    }
    let signed = [id, b".", timestamp, b".", body].concat();
    let is_genuine = signatures
        .split(|byte| *byte == b' ')
        .filter_map(|each| STANDARD.decode(each.strip_prefix(b"v1,")?).ok())
        // `verify` compares in constant time.
        .any(|given| {
            keys.iter()
                .any(|key| hmac::verify(key, &signed, &given).is_ok())
        });
    if !is_genuine {
        return Err(WebhookRefusal::BadSignature);
    }
    Ok(())
}

fn key_of(secret: &str) -> Option<hmac::Key> {
    let bytes = STANDARD.decode(secret.strip_prefix("whsec_")?).ok()?;
    let is_given = !bytes.is_empty();
    is_given.then(|| hmac::Key::new(hmac::HMAC_SHA256, &bytes))
}

/// A header that is given once. Of two, others might read the one that is not signed.
fn only<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a [u8]> {
    let mut values = headers.get_all(name).iter().map(HeaderValue::as_bytes);
    match (values.next(), values.next()) {
        (Some(value), None) if !value.is_empty() => Some(value),
        _ => None,
    }
}

/// Seconds since 1970, in 1 to 12 digits.
fn read_timestamp(text: &[u8]) -> Option<u64> {
    let is_number = (1..=12).contains(&text.len()) && text.iter().all(u8::is_ascii_digit);
    let text = std::str::from_utf8(text).ok().filter(|_| is_number)?;
    text.parse().ok()
}

/// One event, or a list of them.
fn read_events(body: &[u8]) -> Option<Vec<WebhookEvent>> {
    #[derive(Deserialize)]
    struct List {
        events: Vec<Body>,
    }
    let events = match serde_json::from_slice::<List>(body) {
        Ok(list) => list.events,
        Err(_) => vec![serde_json::from_slice(body).ok()?],
    };
    let events: Option<Vec<_>> = events.into_iter().map(Body::into_event).collect();
    events.filter(|events| !events.is_empty())
}

/// Unlike answers of the service, it has all members.
#[derive(Deserialize)]
struct Body {
    id: String,
    seq: u64,
    #[serde(rename = "type")]
    event_type: String,
    // Events of older services have none.
    #[serde(default)]
    schema_version: u64,
    #[serde(with = "plain::optional_time")]
    timestamp: Option<SystemTime>,
    skipped: Option<u64>,
    data: Map<String, Value>,
}

impl Body {
    /// `None`: its time is none.
    fn into_event(self) -> Option<WebhookEvent> {
        self.timestamp?;
        Some(WebhookEvent {
            id: self.id,
            seq: self.seq,
            event_type: self.event_type,
            schema_version: self.schema_version,
            timestamp: self.timestamp,
            skipped: self.skipped,
            data: self.data,
        })
    }
}
