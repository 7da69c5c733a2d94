//! The REST interface: requests are retried if that is safe.

use std::sync::Arc;
use std::time::SystemTime;

use bytes::Bytes;
use http::{HeaderValue, Method, Request, header};
use http_body_util::{Full, LengthLimitError};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::calls::{CallOptions, KeyForm, Limits, attempt_in_time};
use crate::error::{Code, Error};
use crate::error_kinds::{ANSWER_BYTES_MAX, Kind};
use crate::http::{Http, encode, read_body};
use crate::listing::{Listing, Page};
use crate::plain;

pub(crate) struct Rest {
    /// Without a slash at its end.
    pub(crate) url: String,
    pub(crate) authorization: Option<HeaderValue>,
    pub(crate) limits: Limits,
    pub(crate) http: Http,
}

/// A `POST` without an idempotency key that may be repeated: it changes nothing, or what it reports has ids.
const REPEATABLE_POSTS: [&str; 3] = ["/v1/usage", "/v1/usage/lookup", "/v1/rates/simulate"];
/// There is no tenant yet whose key it could be, so it is never repeated.
const SIGNUP: &str = "/v1/signup";

/// A page of a list, whose items have a name of their own in each.
#[derive(Deserialize)]
struct Listed<T> {
    #[serde(
        alias = "entries",
        alias = "records",
        alias = "conflicts",
        alias = "payments",
        alias = "grants",
        alias = "sessions",
        alias = "deliveries",
        alias = "dead_letters"
    )]
    items: Vec<T>,
    next_cursor: Option<String>,
}

impl Rest {
    /// One request and its answer. All attempts of a write have the same idempotency key, so it takes effect
    /// once.
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
        let is_write = method != Method::GET && path != SIGNUP && !REPEATABLE_POSTS.contains(&path);
        let key = is_write.then(|| key_of(options)).transpose()?;
        let may_retry = |error: &Error| path != SIGNUP && is_transient(error);
        let attempt = || self.send(method.clone(), path, body.clone(), key.clone());
        let (status, answer) = attempt_in_time(&self.limits, options, may_retry, attempt).await?;
        // An answer without a body is `null`.
        let text: &[u8] = if answer.is_empty() { b"null" } else { &answer };
        serde_json::from_slice(text).map_err(|_| {
            Error::bad_answer(Code::Http(status), "the answer is not what was expected")
        })
    }

    /// What `path` and `query` answer.
    pub(crate) async fn get<T: DeserializeOwned>(
        &self,
        path: &str,
        query: &Query,
        options: &CallOptions,
    ) -> Result<T, Error> {
        let address = query.after(path);
        self.call(Method::GET, &address, None::<&()>, options).await
    }

    async fn send(
        &self,
        method: Method,
        path: &str,
        body: Option<Bytes>,
        idempotency_key: Option<HeaderValue>,
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
        if let Some(key) = idempotency_key {
            request = request.header("idempotency-key", key);
        }
        let request = request
            .body(Full::new(body.unwrap_or_default()))
            .map_err(|error| Error::invalid("url", &error.to_string()))?;
        let answer = self.http.open(request).await.map_err(Error::not_reached)?;
        let (status, headers) = (answer.status().as_u16(), answer.headers().clone());
        let is_success = (200..=299).contains(&status);
        // An answer only counts if it is complete.
        match read_body(answer.into_body(), ANSWER_BYTES_MAX).await {
            Ok(body) if is_success => Ok((status, body)),
            Ok(body) => Err(Error::of_answer(status, &headers, &body)),
            Err(error) if !error.is::<LengthLimitError>() => Err(Error::not_reached(error)),
            Err(_) if is_success => {
                let code = Code::Http(status);
                Err(Error::bad_answer(code, "the answer is too long"))
            }
            Err(_) => Err(Error::of_answer(status, &headers, b"")),
        }
    }
}

const KEYS: KeyForm = KeyForm {
    first: b'!',
    length_max: 255,
    accepted: "must be 1 to 255 visible ASCII characters",
};

fn key_of(options: &CallOptions) -> Result<HeaderValue, Error> {
    let key = options.key(&KEYS)?;
    HeaderValue::try_from(key).map_err(|_| Error::invalid("idempotency_key", KEYS.accepted))
}

/// A list, page by page, from `first` on.
pub(crate) fn list<T: DeserializeOwned + Send + 'static>(
    rest: &Arc<Rest>,
    path: &'static str,
    query: Query,
    first: String,
) -> Listing<T> {
    list_at(rest, Ok(path.to_owned()), query, first)
}

/// The same for a path that may be impossible, which is told with the first page.
pub(crate) fn list_at<T: DeserializeOwned + Send + 'static>(
    rest: &Arc<Rest>,
    path: Result<String, Error>,
    query: Query,
    first: String,
) -> Listing<T> {
    let rest = rest.clone();
    Listing::new(first, move |cursor, options| {
        let (rest, path) = (rest.clone(), path.clone());
        let query = query.clone().text("cursor", &cursor);
        Box::pin(async move {
            let listed: Listed<T> = rest.get(&path?, &query, &options).await?;
            Ok(Page {
                items: listed.items,
                next_page_token: listed.next_cursor.unwrap_or_default(),
            })
        })
    })
}

/// The parameters of a request.
#[derive(Clone, Default)]
pub(crate) struct Query(String);

impl Query {
    /// Absent if it is empty.
    pub(crate) fn text(self, name: &str, value: &str) -> Self {
        self.given(name, Some(value).filter(|value| !value.is_empty()))
    }

    pub(crate) fn given(mut self, name: &str, value: Option<&str>) -> Self {
        if let Some(value) = value {
            let separator = if self.0.is_empty() { '?' } else { '&' };
            self.0 = format!("{}{separator}{name}={}", self.0, encode(value));
        }
        self
    }

    /// Absent if it is 0.
    pub(crate) fn number(self, name: &str, value: i32) -> Self {
        let text = value.to_string();
        self.given(name, Some(&*text).filter(|_| value != 0))
    }

    pub(crate) fn time(self, name: &str, value: Option<SystemTime>) -> Self {
        let text = value.map(|time| plain::write_time(time).to_string());
        self.given(name, text.as_deref())
    }

    /// Absent if there is none.
    pub(crate) fn words<'a>(self, name: &str, values: impl Iterator<Item = &'a str>) -> Self {
        self.text(name, &values.collect::<Vec<_>>().join(","))
    }

    fn after(&self, path: &str) -> String {
        format!("{path}{}", self.0)
    }
}

/// A part of a path. URLs drop the parts `.` and `..`, percent-encoded or not. Source: WHATWG URL, 4.4.
pub(crate) fn segment(field: &str, value: &str) -> Result<String, Error> {
    if ["", ".", ".."].contains(&value) {
        return Err(Error::invalid(field, r#"must not be empty, "." or "..""#));
    }
    Ok(encode(value))
}

/// Source: specification 7.1. Internal errors of the service may also be temporary.
pub(crate) fn is_transient(error: &Error) -> bool {
    matches!(error.kind(), Kind::Unavailable | Kind::Timeout)
        || error.failure().code == Code::Http(500)
}
