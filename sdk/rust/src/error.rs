//! Errors of this crate.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use http::HeaderMap;
use prost::Message;
use serde::{Deserialize, Serialize};
use tonic::Status;

use crate::error_kinds::{Kind, kind_of_code, kind_of_reason, kind_of_status};
use crate::generated::rpc;
use crate::http::decode;
use crate::plain;

/// The service refused, failed, or was not reached. [`Failure`] has the details.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Error {
    /// This tenant has no such resource.
    NotFound(Box<Failure>),
    /// The key, or the actor, may not do that.
    Denied(Box<Failure>),
    /// The API key is not known.
    Unauthenticated(Box<Failure>),
    /// The request is wrong, or too large: [`Failure::fields`] says where. Without a [`Code`], nothing was
    /// sent.
    Invalid(Box<Failure>),
    /// It exists already.
    Exists(Box<Failure>),
    /// The room has ended.
    Closed(Box<Failure>),
    /// Something else has to change first: [`Failure::reason`] says what, such as `NO_CREDIT`.
    Precondition(Box<Failure>),
    /// The service was not reached, or not now; [`Failure::retry_after`] may say when.
    Unavailable(Box<Failure>),
    /// A bug in the service: report it with [`Failure::request_id`].
    Internal(Box<Failure>),
    /// There was no answer in time: the call may have taken effect.
    Timeout(Box<Failure>),
    /// Too many requests to REST.
    RateLimited(Box<Failure>),
}

/// The details of an [`Error`]. They never contain the API key.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Failure {
    /// The gRPC code, or the status of the HTTP answer.
    pub code: Code,
    /// A stable identifier such as `NO_CREDIT`, of [`reason`](crate::reason) or of a later version; empty if
    /// there is none.
    pub reason: String,
    /// For a person.
    pub message: String,
    /// Quote it to the operator of the service; `None` if there was no answer.
    pub request_id: Option<String>,
    /// The invalid fields, for [`Error::Invalid`].
    pub fields: Vec<FieldViolation>,
    /// Further details, such as the missing capability.
    pub metadata: BTreeMap<String, String>,
    /// The minimum wait that the service asks for, if it does.
    pub retry_after: Option<Duration>,
    cause: Option<Arc<dyn std::error::Error + Send + Sync>>,
}

/// An invalid field of the request.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct FieldViolation {
    /// Its path: in the contract, such as `policy.max_participants`, or of REST, such as `records/0/seconds`;
    /// empty if no single field is wrong.
    pub field: String,
    /// What it accepts.
    pub description: String,
}

impl FieldViolation {
    /// The description is what the message says of the field. What is not percent-encoded UTF-8, the service did
    /// not send.
    fn of_answer(header: &str, message: &str) -> Self {
        let field = decode(header).unwrap_or_default();
        let text = message.strip_prefix("invalid request: ").unwrap_or(message);
        let about = text
            .strip_prefix(&field)
            .and_then(|rest| rest.strip_prefix(' '));
        let description = about.unwrap_or(text).to_owned();
        Self { field, description }
    }
}

/// What the answer said, in the terms of its protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Code {
    /// Nothing was sent.
    #[default]
    None,
    /// The name of a gRPC code such as `NOT_FOUND`.
    Grpc(&'static str),
    /// The status of an HTTP answer.
    Http(u16),
}

impl fmt::Display for Code {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => Ok(()),
            Self::Grpc(name) => to.write_str(name),
            Self::Http(status) => write!(to, "{status}"),
        }
    }
}

impl Error {
    /// Which of the variants it is.
    #[must_use]
    pub fn kind(&self) -> Kind {
        self.parts().0
    }

    /// The details.
    #[must_use]
    pub fn failure(&self) -> &Failure {
        self.parts().1
    }

    /// [`Failure::reason`].
    #[must_use]
    pub fn reason(&self) -> &str {
        &self.failure().reason
    }

    fn parts(&self) -> (Kind, &Failure) {
        match self {
            Self::NotFound(failure) => (Kind::NotFound, failure),
            Self::Denied(failure) => (Kind::Denied, failure),
            Self::Unauthenticated(failure) => (Kind::Unauthenticated, failure),
            Self::Invalid(failure) => (Kind::Invalid, failure),
            Self::Exists(failure) => (Kind::Exists, failure),
            Self::Closed(failure) => (Kind::Closed, failure),
            Self::Precondition(failure) => (Kind::Precondition, failure),
            Self::Unavailable(failure) => (Kind::Unavailable, failure),
            Self::Internal(failure) => (Kind::Internal, failure),
            Self::Timeout(failure) => (Kind::Timeout, failure),
            Self::RateLimited(failure) => (Kind::RateLimited, failure),
        }
    }

    pub(crate) fn new(kind: Kind, failure: Failure) -> Self {
        let failure = Box::new(failure);
        match kind {
            Kind::NotFound => Self::NotFound(failure),
            Kind::Denied => Self::Denied(failure),
            Kind::Unauthenticated => Self::Unauthenticated(failure),
            Kind::Invalid => Self::Invalid(failure),
            Kind::Exists => Self::Exists(failure),
            Kind::Closed => Self::Closed(failure),
            Kind::Precondition => Self::Precondition(failure),
            Kind::Unavailable => Self::Unavailable(failure),
            Kind::Internal => Self::Internal(failure),
            Kind::Timeout => Self::Timeout(failure),
            Kind::RateLimited => Self::RateLimited(failure),
        }
    }

    /// A mistake that is found before anything is sent.
    pub(crate) fn invalid(field: &str, description: &str) -> Self {
        let message = format!("{field} {description}");
        let violation = FieldViolation {
            field: field.into(),
            description: description.into(),
        };
        Self::new(
            Kind::Invalid,
            Failure {
                message,
                fields: vec![violation],
                ..Failure::default()
            },
        )
    }

    pub(crate) fn timeout() -> Self {
        let message = "there was no answer in time".into();
        let code = Code::Grpc("DEADLINE_EXCEEDED");
        Self::new(
            Kind::Timeout,
            Failure {
                code,
                message,
                ..Failure::default()
            },
        )
    }

    /// The network failed, or what is at the address is no such service.
    pub(crate) fn not_reached(cause: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        let message = "the service was not reached, or did not answer".into();
        let code = Code::Grpc("UNAVAILABLE");
        let cause = Some(Arc::from(cause.into()));
        Self::new(
            Kind::Unavailable,
            Failure {
                code,
                message,
                cause,
                ..Failure::default()
            },
        )
    }

    /// An answer that this crate cannot use, or a fault of the system.
    pub(crate) fn bad_answer(code: Code, message: impl Into<String>) -> Self {
        Self::new(
            Kind::Internal,
            Failure {
                code,
                message: message.into(),
                ..Failure::default()
            },
        )
    }

    /// The error of a failed call of the control plane.
    pub(crate) fn of_call(status: &Status) -> Self {
        let code = name_of(status.code());
        let mut failure = Failure {
            code: Code::Grpc(code),
            ..Failure::default()
        };
        failure.message = if status.message().is_empty() {
            format!("the control plane answered {code}")
        } else {
            status.message().to_owned()
        };
        let request_id = status
            .metadata()
            .get("x-request-id")
            .and_then(|id| id.to_str().ok());
        failure.request_id = request_id.map(str::to_owned);
        read_details(status.details(), &mut failure);
        // A reason only counts together with its own code.
        let kind = match kind_of_reason(&failure.reason) {
            Some((own_code, kind)) if own_code == code => kind,
            _ => kind_of_code(code),
        };
        Self::new(kind, failure)
    }

    /// The error of an answer of the REST interface; `body` may be anything.
    pub(crate) fn of_answer(status: u16, headers: &HeaderMap, body: &[u8]) -> Self {
        #[derive(Default, Deserialize)]
        #[serde(default)]
        struct Body {
            error: Option<serde_json::Value>,
            code: Option<serde_json::Value>,
        }
        let body: Body = serde_json::from_slice(body).unwrap_or_default();
        let text = |value: Option<serde_json::Value>| {
            value.and_then(|value| value.as_str().map(str::to_owned))
        };
        let message = text(body.error).unwrap_or_else(|| format!("the service answered {status}"));
        let reason = text(body.code).unwrap_or_default().to_uppercase();
        let header = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
        let fields = match status {
            400 => vec![FieldViolation::of_answer(
                header("invalid-field").unwrap_or_default(),
                &message,
            )],
            _ => Vec::new(),
        };
        let failure = Failure {
            code: Code::Http(status),
            reason: if status == 402 {
                "NO_CREDIT".into()
            } else {
                reason
            },
            message,
            request_id: header("x-request-id").map(str::to_owned),
            fields,
            retry_after: header("retry-after").and_then(read_retry_after),
            ..Failure::default()
        };
        Self::new(kind_of_status(status), failure)
    }
}

/// Kind and message, with the code, the reason and the request id as far as there are any.
impl fmt::Display for Error {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        let failure = self.failure();
        write!(to, "{:?}: {}", self.kind(), failure.message)?;
        let code = failure.code.to_string();
        let request = failure
            .request_id
            .as_ref()
            .map_or_else(String::new, |id| format!("request {id}"));
        let details: Vec<&str> = [&code, &failure.reason, &request]
            .into_iter()
            .filter(|each| !each.is_empty())
            .map(String::as_str)
            .collect();
        if details.is_empty() {
            return Ok(());
        }
        write!(to, " ({})", details.join(", "))
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        let cause = self.failure().cause.as_deref()?;
        Some(cause)
    }
}

/// What the service adds to a status of gRPC. Without readable details, code and message remain.
fn read_details(bytes: &[u8], failure: &mut Failure) {
    let Ok(status) = rpc::Status::decode(bytes) else {
        return;
    };
    for any in &status.details {
        let value = any.value.as_slice();
        match any.type_url.rsplit('/').next().unwrap_or_default() {
            "google.rpc.ErrorInfo" => {
                let Ok(info) = rpc::ErrorInfo::decode(value) else {
                    continue;
                };
                failure.reason = info.reason;
                failure.metadata = info.metadata.into_iter().collect();
                // Proxies may drop the trailer, which comes first.
                let request_id = failure.metadata.remove("request_id");
                failure.request_id = failure.request_id.take().or(request_id);
            }
            "google.rpc.BadRequest" => {
                let Ok(found) = rpc::BadRequest::decode(value) else {
                    continue;
                };
                let violations = found.field_violations.into_iter();
                failure.fields = violations
                    .map(|each| FieldViolation {
                        field: each.field,
                        description: each.description,
                    })
                    .collect();
            }
            "google.rpc.RetryInfo" => {
                let Ok(info) = rpc::RetryInfo::decode(value) else {
                    continue;
                };
                failure.retry_after = plain::read_duration(info.retry_delay);
            }
            _ => {}
        }
    }
}

/// From seconds or a date. Source: RFC 9110, 10.2.3.
pub(crate) fn read_retry_after(header: &str) -> Option<Duration> {
    if !header.is_empty() && header.bytes().all(|byte| byte.is_ascii_digit()) {
        return header.parse().ok().map(Duration::from_secs);
    }
    let date = httpdate::parse_http_date(header).ok()?;
    Some(date.duration_since(SystemTime::now()).unwrap_or_default())
}

fn name_of(code: tonic::Code) -> &'static str {
    use tonic::Code;
    match code {
        Code::Ok => "OK",
        Code::Cancelled => "CANCELLED",
        Code::Unknown => "UNKNOWN",
        Code::InvalidArgument => "INVALID_ARGUMENT",
        Code::DeadlineExceeded => "DEADLINE_EXCEEDED",
        Code::NotFound => "NOT_FOUND",
        Code::AlreadyExists => "ALREADY_EXISTS",
        Code::PermissionDenied => "PERMISSION_DENIED",
        Code::ResourceExhausted => "RESOURCE_EXHAUSTED",
        Code::FailedPrecondition => "FAILED_PRECONDITION",
        Code::Aborted => "ABORTED",
        Code::OutOfRange => "OUT_OF_RANGE",
        Code::Unimplemented => "UNIMPLEMENTED",
        Code::Internal => "INTERNAL",
        Code::Unavailable => "UNAVAILABLE",
        Code::DataLoss => "DATA_LOSS",
        Code::Unauthenticated => "UNAUTHENTICATED",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_request_id_is_kept_without_a_header() {
        let info = rpc::ErrorInfo {
            metadata: [("request_id".to_owned(), "r".to_owned())].into(),
            ..rpc::ErrorInfo::default()
        };
        let details = rpc::Status {
            details: vec![prost_types::Any {
                type_url: "type.googleapis.com/google.rpc.ErrorInfo".into(),
                value: info.encode_to_vec(),
            }],
            ..rpc::Status::default()
        };
        let code = tonic::Code::Internal;
        let status = Status::with_details(code, "no", details.encode_to_vec().into());
        let error = Error::of_call(&status);
        assert_eq!(error.failure().request_id.as_deref(), Some("r"));
        assert!(error.failure().metadata.is_empty());
        assert_eq!(error.to_string(), "Internal: no (INTERNAL, request r)");
    }

    #[test]
    fn a_mistake_is_shown_without_details() {
        let error = Error::invalid("name", "is too long");
        assert_eq!(error.to_string(), "Invalid: name is too long");
    }
}
