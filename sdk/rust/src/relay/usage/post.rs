//! One attempt at `POST /v1/usage`.

use std::time::Duration;

use bytes::Bytes;
use http::Request;
use http_body_util::Full;
use serde::Deserialize;
use tokio::time::timeout;

use super::event::RetryReason;
use crate::error::read_retry_after;
use crate::http::{Answer, BoxError, Http};

const ANSWER_MAX: Duration = Duration::from_secs(30);
const ANSWER_BYTES_MAX: usize = 1024 * 1024;
/// The longest wait that a server may ask for.
const RETRY_AFTER_MAX: Duration = Duration::from_secs(3600);

/// What an answer means. Source: specification 4.12 and 7.1.
pub(super) enum Outcome {
    /// Every record is charged, a duplicate, or exempt.
    Accepted(Counts),
    /// The service will never accept this batch, and charged none of it.
    Refused { status: u16, message: String },
    /// The service does not know the key.
    KeyRefused,
    /// Send the same batch again.
    Retry(Failed),
}

#[derive(Clone, Copy, Deserialize)]
pub(super) struct Counts {
    pub(super) charged: u64,
    pub(super) duplicates: u64,
    pub(super) unbilled: u64,
    pub(super) admitted: bool,
}

pub(super) struct Failed {
    pub(super) reason: RetryReason,
    pub(super) status: Option<u16>,
    pub(super) cause: String,
    /// The server's minimum wait.
    pub(super) after: Duration,
}

impl Failed {
    pub(super) fn answered(reason: RetryReason, status: u16) -> Self {
        Self {
            reason,
            status: Some(status),
            cause: String::new(),
            after: Duration::ZERO,
        }
    }

    fn unanswered(reason: RetryReason, cause: impl Into<String>) -> Self {
        Self {
            reason,
            status: None,
            cause: cause.into(),
            after: Duration::ZERO,
        }
    }
}

pub(super) async fn post(http: &Http, url: &str, key: &str, body: String) -> Outcome {
    let exchange = async {
        let request = Request::post(url)
            .header("authorization", format!("Bearer {key}"))
            .header("content-type", "application/json")
            .body(Full::new(Bytes::from(body)))?;
        // A longer answer is not the service's. An answer only counts if it is complete.
        http.send(request, ANSWER_BYTES_MAX).await
    };
    let answer: Result<Result<Answer, BoxError>, _> = timeout(ANSWER_MAX, exchange).await;
    match answer {
        Ok(Ok(answer)) => interpret(&answer),
        Ok(Err(error)) => {
            Outcome::Retry(Failed::unanswered(RetryReason::Network, error.to_string()))
        }
        Err(_) => {
            let cause = "no answer within 30 seconds";
            Outcome::Retry(Failed::unanswered(RetryReason::Timeout, cause))
        }
    }
}

fn interpret(answer: &Answer) -> Outcome {
    let status = answer.status;
    let header = answer.headers.get("retry-after");
    let after = header.and_then(|value| read_retry_after(value.to_str().ok()?));
    let retry = |reason| {
        Outcome::Retry(Failed {
            after: after.unwrap_or_default().min(RETRY_AFTER_MAX),
            ..Failed::answered(reason, status)
        })
    };
    match status {
        200 => serde_json::from_slice(&answer.body)
            .map_or_else(|_| retry(RetryReason::UnexpectedAnswer), Outcome::Accepted),
        401 => Outcome::KeyRefused,
        400 => match message_of(&answer.body) {
            Some(message) => Outcome::Refused { status, message },
            // Only the service itself may reject a record. Answers of proxies in between do not count.
            None => retry(RetryReason::UnexpectedAnswer),
        },
        413 => Outcome::Refused {
            status,
            message: "the body is too large".into(),
        },
        429 => retry(RetryReason::RateLimited),
        500.. => retry(RetryReason::ServerError),
        _ => retry(RetryReason::UnexpectedAnswer),
    }
}

fn message_of(body: &[u8]) -> Option<String> {
    #[derive(Deserialize)]
    struct Refusal {
        error: String,
    }
    Some(serde_json::from_slice::<Refusal>(body).ok()?.error)
}
