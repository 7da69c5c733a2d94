//! Follows the revocations of the tenants' tokens: one continuous long poll for each tenant.
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
use http::Request;
use http_body_util::Full;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, timeout};

use super::revocations::{ExpectedRevocations, Revocations, verify_revocations};
use super::signing_keys::{Jwks, SigningKeys};
use crate::calls::random_fraction;
use crate::error::{Error, read_retry_after};
use crate::http::{Http, encode, read_url, tls};

/// The service answers within 25 seconds, even without news.
const ANSWER_MAX: Duration = Duration::from_secs(40);
const FIRST_RETRY: Duration = Duration::from_millis(500);
/// Snapshots last a minute, so there is time for several attempts.
const RETRY_MAX: Duration = Duration::from_secs(5);
/// A longer `Retry-After` is cut to this: without snapshots no participant is admitted.
const RETRY_AFTER_MAX: Duration = Duration::from_secs(30);
/// After an immediate answer without news.
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
type OnError = Arc<dyn Fn(&RevocationsError) + Send + Sync>;

/// The current revocations, kept up to date until it is closed or dropped.
#[derive(Debug)]
pub struct RevocationFeed {
    snapshots: Snapshots,
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
            on_change: Arc::new(|_, _| {}),
            on_error: Arc::new(|_| {}),
            wall_clock: Arc::new(SystemTime::now),
        }
    }

    /// The newest snapshot of a tenant.
    #[must_use]
    pub fn get(&self, tenant: &str) -> Option<Arc<Revocations>> {
        self.snapshots.get(tenant)
    }

    /// Stop polling. Returns when no poll is in progress.
    pub async fn close(mut self) {
        self.tasks.shutdown().await;
    }

    pub(crate) fn reader(&self) -> Snapshots {
        self.snapshots.clone()
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
    on_change: OnChange,
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
        let snapshots = Snapshots::default();
        let mut tasks = JoinSet::new();
        let (tenants, http) = (self.tenants.clone(), Http::new(&tls));
        let url = url.to_string().trim_end_matches('/').to_owned();
        let follower = Arc::new(Follower {
            options: self,
            url,
            http,
            keys,
            snapshots: snapshots.clone(),
        });
        for tenant in tenants {
            tasks.spawn(follower.clone().follow(tenant));
        }
        Ok(RevocationFeed { snapshots, tasks })
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
}

impl Follower {
    async fn follow(self: Arc<Self>, tenant: String) {
        let mut failures = 0;
        loop {
            let asked_at = Instant::now();
            let error = match self
                .ask(&tenant)
                .await
                .and_then(|found| self.keep(&tenant, found))
            {
                Ok(is_new) => {
                    failures = 0;
                    if !is_new && asked_at.elapsed() < NOTHING_NEW {
                        sleep(NOTHING_NEW.mul_f64(fraction())).await;
                    }
                    continue;
                }
                Err(error) => error,
            };
            tell(|| (self.options.on_error)(&error));
            let ceiling = FIRST_RETRY
                .saturating_mul(2_u32.saturating_pow(failures))
                .min(RETRY_MAX);
            failures = failures.saturating_add(1);
            sleep(
                ceiling
                    .mul_f64(fraction())
                    .max(error.retry_after.min(RETRY_AFTER_MAX)),
            )
            .await;
        }
    }

    async fn ask(&self, tenant: &str) -> Result<Revocations, RevocationsError> {
        let mut url = format!("{}/v1/revocations/{}", self.url, encode(tenant));
        if let Some(known) = self.snapshots.get(tenant) {
            url = format!("{url}?after={}", known.seq);
        }
        let text = match timeout(ANSWER_MAX, self.fetch(&url, tenant)).await {
            Ok(answer) => answer?,
            Err(_) => return Err(failed(RevocationsErrorCode::NoAnswer, tenant)),
        };
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
        let found = verify_revocations(&text, expected).await;
        found.ok_or_else(|| failed(RevocationsErrorCode::NotValid, tenant))
    }

    async fn fetch(&self, url: &str, tenant: &str) -> Result<String, RevocationsError> {
        let no_answer = || failed(RevocationsErrorCode::NoAnswer, tenant);
        let request = Request::get(url)
            .body(Full::new(Bytes::new()))
            .map_err(|_| no_answer())?;
        let answer = self
            .http
            .send(request, SNAPSHOT_BYTES_MAX)
            .await
            .map_err(|_| no_answer())?;
        if answer.status == 200 {
            let text = String::from_utf8(answer.body.into());
            return text.map_err(|_| failed(RevocationsErrorCode::NotValid, tenant));
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

/// Without random numbers, wait in full.
fn fraction() -> f64 {
    random_fraction().unwrap_or(1.0)
}

/// A listener that panics has been reported by the panic hook, and does not end the feed.
fn tell(listener: impl FnOnce()) {
    let _ = catch_unwind(AssertUnwindSafe(listener));
}
