//! Follows the revocations of the tenants' tokens, and whether the tenants are admitted: one stream for each tenant, or,
//! where an older service or a proxy does not offer it, a continuous long poll.
//!
//! A snapshot is accepted only if the service signed it for this tenant, and never if it is older than the
//! current one. Without a fresh snapshot, the verifier refuses newcomers and renewals; running sessions
//! continue.

use std::collections::{BTreeSet, HashMap};
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::Full;
use hyper::body::Incoming;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, timeout};

use super::event_stream::EventStream;
use super::revocations::{ExpectedRevocations, Revocations, verify_revocations};
use super::signing_keys::SigningKeys;
use super::told::Told;
use crate::calls::random_fraction;
use crate::error::{Error, read_retry_after};
use crate::http::{Answer, BoxError, Http, encode, read_answer, read_url, tls};
use crate::jws::Jwks;

/// The service says something every 25 seconds, even without news.
const ANSWER_MAX: Duration = Duration::from_secs(40);
/// A stream begins at once. A proxy that collects the whole answer first would never let it through.
const FIRST_EVENT_MAX: Duration = Duration::from_secs(10);
/// How long there are polls after a stream was not offered, or refused.
const POLLS: Duration = Duration::from_secs(300);
const FIRST_RETRY: Duration = Duration::from_millis(500);
/// Snapshots last a minute, so there is time for several attempts.
const RETRY_MAX: Duration = Duration::from_secs(5);
/// A longer `Retry-After` is cut to this: without snapshots no participant is admitted.
const RETRY_AFTER_MAX: Duration = Duration::from_secs(30);
/// After an immediate answer without news, or the end of a stream: all relays may come back at once.
const NOTHING_NEW: Duration = Duration::from_secs(1);
const SNAPSHOT_BYTES_MAX: usize = 16 * 1024 * 1024;

/// Why there are no newer revocations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum RevocationsErrorCode {
    /// There was no answer, or not in time.
    NoAnswer,
    /// The answer was not 200, or far too long.
    BadAnswer,
    /// Not signed by the service, not for this tenant, or not current.
    NotValid,
    /// Older than the current snapshot.
    Older,
}

impl RevocationsErrorCode {
    /// The code, such as `NO_ANSWER`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::NoAnswer => "NO_ANSWER",
            Self::BadAnswer => "BAD_ANSWER",
            Self::NotValid => "NOT_VALID",
            Self::Older => "OLDER",
        }
    }
}

/// An attempt to get newer revocations failed. No action is needed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RevocationsError {
    /// Why.
    pub code: RevocationsErrorCode,
    /// The tenant whose revocations were asked for.
    pub tenant: String,
    /// HTTP status of a `BAD_ANSWER`.
    pub status: Option<u16>,
    /// The wait that the service asks for; 0 if it does not.
    pub retry_after: Duration,
}

impl fmt::Display for RevocationsError {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            to,
            "no newer revocations of {}: {}",
            self.tenant,
            self.code.as_str()
        )
    }
}

impl std::error::Error for RevocationsError {}

/// The time of day.
pub type WallClock = Arc<dyn Fn() -> SystemTime + Send + Sync>;
type OnChange = Arc<dyn Fn(&str, &Arc<Revocations>) + Send + Sync>;
type OnBudgets = Arc<dyn Fn(&str) + Send + Sync>;
type RelayKey = Arc<dyn Fn(&str) -> Option<String> + Send + Sync>;
type OnError = Arc<dyn Fn(&RevocationsError) + Send + Sync>;

/// The current revocations, kept up to date until it is closed or dropped.
#[derive(Debug)]
pub struct RevocationFeed {
    snapshots: Snapshots,
    told: Told,
    tasks: JoinSet<()>,
}

impl RevocationFeed {
    /// `url`: base URL of the service. `tenants`: ids of the tenants to follow. `issuer` and `audience` are
    /// as in tokens.
    pub fn builder(
        url: impl Into<String>,
        tenants: impl IntoIterator<Item = impl Into<String>>,
        issuer: impl Into<String>,
        audience: impl Into<String>,
    ) -> RevocationFeedBuilder {
        RevocationFeedBuilder {
            url: url.into(),
            tenants: tenants.into_iter().map(Into::into).collect(),
            issuer: issuer.into(),
            audience: audience.into(),
            jwks: None,
            jwks_url: None,
            ca_certificates: None,
            relay_key: Arc::new(|_| None),
            on_change: Arc::new(|_, _| {}),
            on_budgets: Arc::new(|_| {}),
            on_error: Arc::new(|_| {}),
            wall_clock: Arc::new(SystemTime::now),
        }
    }

    /// The newest snapshot of a tenant.
    #[must_use]
    pub fn get(&self, tenant: &str) -> Option<Arc<Revocations>> {
        self.snapshots.get(tenant)
    }

    /// Whether the tenant is admitted, as of now; `None` while no stream with a relay key tells it.
    #[must_use]
    pub fn admitted(&self, tenant: &str) -> Option<bool> {
        self.told.admitted(tenant)
    }

    /// Whether one of these budgets, those of a token, is spent, as far as a stream with a relay key has told.
    #[must_use]
    pub fn budget_reached(&self, tenant: &str, budgets: &[String]) -> bool {
        self.told.budget_reached(tenant, budgets)
    }

    /// Stop following. Returns when no request is in progress.
    pub async fn close(mut self) {
        self.tasks.shutdown().await;
    }

    pub(crate) fn readers(&self) -> (Snapshots, Told) {
        (self.snapshots.clone(), self.told.clone())
    }
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Snapshots(Arc<RwLock<HashMap<String, Arc<Revocations>>>>);

impl Snapshots {
    pub(crate) fn get(&self, tenant: &str) -> Option<Arc<Revocations>> {
        self.0
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .get(tenant)
            .cloned()
    }

    fn set(&self, tenant: &str, snapshot: Arc<Revocations>) {
        let mut all = self.0.write().unwrap_or_else(PoisonError::into_inner);
        all.insert(tenant.to_owned(), snapshot);
    }
}

/// Which tenants to follow, and the keys: `jwks_url`, or `jwks` for keys that never change.
#[derive(Clone)]
#[must_use]
pub struct RevocationFeedBuilder {
    url: String,
    tenants: BTreeSet<String>,
    issuer: String,
    audience: String,
    jwks: Option<Jwks>,
    jwks_url: Option<String>,
    ca_certificates: Option<Vec<u8>>,
    relay_key: RelayKey,
    on_change: OnChange,
    on_budgets: OnBudgets,
    on_error: OnError,
    wall_clock: WallClock,
}

impl RevocationFeedBuilder {
    /// Address of the service's keys, which are fetched and kept: `/.well-known/jwks.json`.
    pub fn jwks_url(mut self, url: impl Into<String>) -> Self {
        self.jwks_url = Some(url.into());
        self
    }

    /// The keys themselves; nothing is fetched for them.
    pub fn jwks(mut self, jwks: Jwks) -> Self {
        self.jwks = Some(jwks);
        self
    }

    /// CA certificates in PEM, in place of the system's.
    pub fn ca_certificates(mut self, pem: impl Into<Vec<u8>>) -> Self {
        self.ca_certificates = Some(pem.into());
        self
    }

    /// A relay key of the tenant, with which the stream also tells whether the tenant is admitted, and which budgets are
    /// spent. It is read for each stream. Without it, or if it does not work, revocations are followed all the same.
    pub fn relay_key(
        mut self,
        key: impl Fn(&str) -> Option<String> + Send + Sync + 'static,
    ) -> Self {
        self.relay_key = Arc::new(key);
        self
    }

    /// The budgets that are spent changed: end the running sessions for which [`RevocationFeed::budget_reached`] is true.
    pub fn on_budgets(mut self, listener: impl Fn(&str) + Send + Sync + 'static) -> Self {
        self.on_budgets = Arc::new(listener);
        self
    }

    /// The revocations changed: check the running sessions of the tenant.
    pub fn on_change(
        mut self,
        listener: impl Fn(&str, &Arc<Revocations>) + Send + Sync + 'static,
    ) -> Self {
        self.on_change = Arc::new(listener);
        self
    }

    /// An attempt failed. It will be retried within 5 seconds, or after `Retry-After`, up to 30.
    pub fn on_error(
        mut self,
        listener: impl Fn(&RevocationsError) + Send + Sync + 'static,
    ) -> Self {
        self.on_error = Arc::new(listener);
        self
    }

    /// For tests: the time of day.
    pub fn wall_clock(mut self, clock: impl Fn() -> SystemTime + Send + Sync + 'static) -> Self {
        self.wall_clock = Arc::new(clock);
        self
    }

    /// Follow the revocations of the tenants from now on, with one request open for each. It needs a
    /// runtime of tokio. Fails with [`Error::Invalid`] for options that cannot work.
    pub fn follow(self) -> Result<RevocationFeed, Error> {
        let must_be_http = "must begin with http:// or https://, and have no query";
        let url = read_url(&self.url).ok_or_else(|| Error::invalid("url", must_be_http))?;
        let ca_pem = self.ca_certificates.as_deref();
        let tls =
            tls(ca_pem).map_err(|error| Error::invalid("ca_certificates", &error.to_string()))?;
        let keys = SigningKeys::of(self.jwks.as_ref(), self.jwks_url.as_deref(), ca_pem)?;
        let (snapshots, told) = (Snapshots::default(), Told::default());
        let mut tasks = JoinSet::new();
        let (tenants, http) = (self.tenants.clone(), Http::new(&tls));
        let url = url.to_string().trim_end_matches('/').to_owned();
        let follower = Arc::new(Follower {
            options: self,
            url,
            http,
            keys,
            snapshots: snapshots.clone(),
            told: told.clone(),
        });
        for tenant in tenants {
            tasks.spawn(follower.clone().follow(tenant));
        }
        Ok(RevocationFeed {
            snapshots,
            told,
            tasks,
        })
    }
}

impl fmt::Debug for RevocationFeedBuilder {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.debug_struct("RevocationFeedBuilder")
            .field("url", &self.url)
            .finish_non_exhaustive()
    }
}

struct Follower {
    options: RevocationFeedBuilder,
    url: String,
    http: Http,
    keys: SigningKeys,
    snapshots: Snapshots,
    told: Told,
}

/// What a follower remembers from one attempt to the next.
struct Course {
    failures: u32,
    streams_from: Instant,
}

impl Course {
    fn is_not_offered(&mut self) {
        self.streams_from = Instant::now() + POLLS;
    }
}

impl Follower {
    async fn follow(self: Arc<Self>, tenant: String) {
        let mut course = Course {
            failures: 0,
            streams_from: Instant::now(),
        };
        loop {
            let asked_at = Instant::now();
            let wants_stream = asked_at >= course.streams_from;
            let outcome = if wants_stream {
                self.stream(&tenant, &mut course).await
            } else {
                self.poll(&tenant).await
            };
            self.told.forget(&tenant);
            match outcome {
                Ok(is_new) => {
                    course.failures = 0;
                    let is_hasty = !is_new && asked_at.elapsed() < NOTHING_NEW;
                    let has_ended = wants_stream && Instant::now() >= course.streams_from;
                    if is_hasty || has_ended {
                        sleep(NOTHING_NEW.mul_f64(fraction())).await;
                    }
                }
                Err(error) => self.back_off(&error, &mut course.failures).await,
            }
        }
    }

    async fn back_off(&self, error: &RevocationsError, failures: &mut u32) {
        tell(|| (self.options.on_error)(error));
        let ceiling = FIRST_RETRY
            .saturating_mul(2_u32.saturating_pow(*failures))
            .min(RETRY_MAX);
        *failures = failures.saturating_add(1);
        sleep(
            ceiling
                .mul_f64(fraction())
                .max(error.retry_after.min(RETRY_AFTER_MAX)),
        )
        .await;
    }

    /// Whether the answer brought news.
    async fn poll(&self, tenant: &str) -> Result<bool, RevocationsError> {
        let mut url = self.url_of(tenant);
        if let Some(known) = self.snapshots.get(tenant) {
            url = format!("{url}?after={}", known.seq);
        }
        let request = Request::get(url).body(Full::new(Bytes::new()));
        let answer = timeout(ANSWER_MAX, async {
            self.http.send(request?, SNAPSHOT_BYTES_MAX).await
        });
        self.accept_answer(tenant, in_time(answer.await)).await
    }

    /// Follow a stream to its end. Returns whether it brought news.
    async fn stream(&self, tenant: &str, course: &mut Course) -> Result<bool, RevocationsError> {
        let Ok(opened) = timeout(FIRST_EVENT_MAX, self.open(tenant)).await else {
            course.is_not_offered();
            return Err(failed(RevocationsErrorCode::NoAnswer, tenant));
        };
        let answer = opened.map_err(|_| failed(RevocationsErrorCode::NoAnswer, tenant))?;
        let kind = answer.headers().get("content-type");
        let is_stream = kind.is_some_and(|kind| kind.as_bytes().starts_with(b"text/event-stream"));
        if !is_stream && answer.status().as_u16() < 500 {
            course.is_not_offered();
        }
        if !is_stream || answer.status() != 200 {
            let answer = timeout(ANSWER_MAX, read_answer(answer, SNAPSHOT_BYTES_MAX));
            return self.accept_answer(tenant, in_time(answer.await)).await;
        }
        self.read_stream(tenant, answer, course).await
    }

    async fn open(&self, tenant: &str) -> Result<Response<Incoming>, BoxError> {
        let mut request = Request::get(self.url_of(tenant)).header("accept", "text/event-stream");
        if let Some(key) = (self.options.relay_key)(tenant) {
            request = request.header("authorization", format!("Bearer {key}"));
        }
        self.http.open(request.body(Full::new(Bytes::new()))?).await
    }

    async fn read_stream(
        &self,
        tenant: &str,
        answer: Response<Incoming>,
        course: &mut Course,
    ) -> Result<bool, RevocationsError> {
        let mut events = EventStream::new(answer.into_body(), SNAPSHOT_BYTES_MAX);
        let (mut limit, mut is_new) = (FIRST_EVENT_MAX, false);
        loop {
            let Ok(next) = timeout(limit, events.next()).await else {
                if limit == FIRST_EVENT_MAX {
                    course.is_not_offered();
                }
                return Err(failed(RevocationsErrorCode::NoAnswer, tenant));
            };
            let next = next.map_err(|_| failed(RevocationsErrorCode::NoAnswer, tenant))?;
            let Some(event) = next else {
                return Ok(is_new);
            };
            (limit, course.failures) = (ANSWER_MAX, 0);
            match event.event.as_str() {
                "revocations" => is_new |= self.accept(tenant, &event.data).await?,
                "admitted" if self.told.read(tenant, &event.data) => {
                    tell(|| (self.options.on_budgets)(tenant));
                }
                _ => {}
            }
        }
    }

    fn url_of(&self, tenant: &str) -> String {
        format!("{}/v1/revocations/{}", self.url, encode(tenant))
    }

    /// Whether it brought news. `None`: there was no answer in time.
    async fn accept_answer(
        &self,
        tenant: &str,
        answer: Option<Answer>,
    ) -> Result<bool, RevocationsError> {
        let answer = answer.ok_or_else(|| failed(RevocationsErrorCode::NoAnswer, tenant))?;
        if answer.status == 200 {
            let text = String::from_utf8(answer.body.into());
            let text = text.map_err(|_| failed(RevocationsErrorCode::NotValid, tenant))?;
            return self.accept(tenant, &text).await;
        }
        let retry_after = answer
            .headers
            .get("retry-after")
            .and_then(|value| value.to_str().ok());
        Err(RevocationsError {
            status: Some(answer.status),
            retry_after: retry_after.and_then(read_retry_after).unwrap_or_default(),
            ..failed(RevocationsErrorCode::BadAnswer, tenant)
        })
    }

    /// Whether the snapshot differs from the previous one.
    async fn accept(&self, tenant: &str, jws: &str) -> Result<bool, RevocationsError> {
        let RevocationFeedBuilder {
            issuer,
            audience,
            wall_clock,
            ..
        } = &self.options;
        let expected = ExpectedRevocations {
            issuer,
            audience,
            tenant,
            keys: &self.keys,
            now: wall_clock(),
        };
        let found = verify_revocations(jws, expected).await;
        self.keep(
            tenant,
            found.ok_or_else(|| failed(RevocationsErrorCode::NotValid, tenant))?,
        )
    }

    /// Whether it differs from the previous one.
    fn keep(&self, tenant: &str, snapshot: Revocations) -> Result<bool, RevocationsError> {
        let known = self.snapshots.get(tenant);
        let now = (self.options.wall_clock)();
        if let Some(known) = &known {
            // An expired snapshot was signed before this one, so a smaller number means that numbering
            // restarted.
            if known.is_current(now) && snapshot.seq < known.seq {
                return Err(failed(RevocationsErrorCode::Older, tenant));
            }
            if snapshot.seq == known.seq && snapshot.exp <= known.exp {
                return Ok(false);
            }
        }
        let snapshot = Arc::new(snapshot);
        self.snapshots.set(tenant, snapshot.clone());
        if known.is_some_and(|known| known.seq == snapshot.seq) {
            return Ok(false);
        }
        tell(|| (self.options.on_change)(tenant, &snapshot));
        Ok(true)
    }
}

fn failed(code: RevocationsErrorCode, tenant: &str) -> RevocationsError {
    let (status, retry_after) = (None, Duration::ZERO);
    RevocationsError {
        code,
        tenant: tenant.to_owned(),
        status,
        retry_after,
    }
}

fn in_time<E>(answer: Result<Result<Answer, BoxError>, E>) -> Option<Answer> {
    answer.ok()?.ok()
}

/// Without random numbers, wait in full.
fn fraction() -> f64 {
    random_fraction().unwrap_or(1.0)
}

/// A listener that panics has been reported by the panic hook, and does not end what called it.
pub(super) fn tell(listener: impl FnOnce()) {
    let _ = catch_unwind(AssertUnwindSafe(listener));
}
