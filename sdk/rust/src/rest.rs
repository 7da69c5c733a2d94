//! The REST interface: requests are retried if that is safe.

use bytes::Bytes;
use http::{HeaderValue, Method, Request, header};
use http_body_util::Full;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::calls::{CallOptions, Limits, attempt_in_time};
use crate::error::{Code, Error};
use crate::error_kinds::Kind;
use crate::http::{ANSWER_BYTES_MAX, Http};

pub(crate) struct Rest {
    /// Without a slash at its end.
    pub(crate) url: String,
    pub(crate) authorization: Option<HeaderValue>,
    pub(crate) limits: Limits,
    pub(crate) http: Http,
}

impl Rest {
    /// One request and its answer. A `POST` may have taken effect without an answer, so it is never
    /// repeated, except for usage, whose records have ids.
    pub(crate) async fn call<T: DeserializeOwned>(
        &self,
        method: Method,
        path: &str,
        body: Option<&(impl Serialize + Sync)>,
        options: &CallOptions,
    ) -> Result<T, Error> {
        let body = body.map(serde_json::to_vec).transpose();
        let body = body
            .map_err(|error| Error::invalid("body", &error.to_string()))?
            .map(Bytes::from);
        let is_repeatable = method != Method::POST || path == "/v1/usage";
        let may_retry = |error: &Error| is_repeatable && is_transient(error);
        let attempt = || self.send(method.clone(), path, body.clone());
        let (status, answer) = attempt_in_time(&self.limits, options, may_retry, attempt).await?;
        // An answer without a body is `null`.
        let text: &[u8] = if answer.is_empty() { b"null" } else { &answer };
        serde_json::from_slice(text).map_err(|_| {
            Error::bad_answer(Code::Http(status), "the answer is not what was expected")
        })
    }

    async fn send(
        &self,
        method: Method,
        path: &str,
        body: Option<Bytes>,
    ) -> Result<(u16, Bytes), Error> {
        let mut request = Request::builder()
            .method(method)
            .uri(format!("{}{path}", self.url));
        if let Some(authorization) = &self.authorization {
            request = request.header(header::AUTHORIZATION, authorization);
        }
        if body.is_some() {
            request = request.header(header::CONTENT_TYPE, "application/json");
        }
        let request = request
            .body(Full::new(body.unwrap_or_default()))
            .map_err(|error| Error::invalid("url", &error.to_string()))?;
        // An answer only counts if it is complete.
        let answer = self
            .http
            .send(request, ANSWER_BYTES_MAX)
            .await
            .map_err(Error::not_reached)?;
        match answer.status {
            200..=299 => Ok((answer.status, answer.body)),
            status => Err(Error::of_answer(status, &answer.headers, &answer.body)),
        }
    }
}

/// Source: specification 7.1. Internal errors of the service may also be temporary.
fn is_transient(error: &Error) -> bool {
    matches!(error.kind(), Kind::Unavailable | Kind::Timeout)
        || error.failure().code == Code::Http(500)
}
