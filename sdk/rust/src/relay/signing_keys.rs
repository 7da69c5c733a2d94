//! The service's signing keys: given once, or fetched from its JWKS and cached.
//!
//! Rotation needs no action by a relay. A new key is published an hour before its first use, so the cache
//! has it in time. A token with an unknown key triggers a fetch, at most every 30 seconds.

use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use bytes::Bytes;
use http::{Request, header};
use http_body_util::Full;
use serde_json::Value;
use tokio::sync::Mutex;
use tokio::task::JoinHandle;
use tokio::time::{Instant, timeout};

use super::refusal::RefusalCode;
use crate::error::Error;
use crate::http::{BoxError, Http, read_url, tls};
use crate::jws::{Jwks, KeysById, PublicKey, import_keys};

/// The keys are fetched again after this time, so a removed key may be accepted for as long.
const FRESH: Duration = Duration::from_secs(600);
/// While the service is unavailable, keys up to this age are still used.
const USABLE: Duration = Duration::from_secs(3600);
/// Minimum time between two fetches, whether the first succeeded or not.
const COOLDOWN: Duration = Duration::from_secs(30);
const FETCH_TIMEOUT: Duration = Duration::from_secs(5);
const JWKS_BYTES_MAX: usize = 1024 * 1024;

pub(crate) enum SigningKeys {
    Fixed(KeysById),
    Fetched(FetchedKeys),
}

impl SigningKeys {
    /// Those of a verifier or a feed: `jwks`, or the ones at `url`.
    pub(crate) fn of(
        jwks: Option<&Jwks>,
        url: Option<&str>,
        ca_pem: Option<&[u8]>,
    ) -> Result<Self, Error> {
        match (jwks, url) {
            (Some(jwks), None) => Ok(Self::Fixed(import_keys(jwks))),
            (None, Some(url)) => {
                let must_be_http = "must begin with http:// or https://, and have no query";
                let url = read_url(url).ok_or_else(|| Error::invalid("jwks_url", must_be_http))?;
                let tls = tls(ca_pem)
                    .map_err(|error| Error::invalid("ca_certificates", &error.to_string()))?;
                let source = Arc::new(Source {
                    url: url.to_string(),
                    http: Http::new(&tls),
                    cache: RwLock::default(),
                });
                Ok(Self::Fetched(FetchedKeys {
                    source,
                    flight: Mutex::default(),
                }))
            }
            _ => Err(Error::invalid(
                "jwks_url",
                "or jwks must be given, and not both",
            )),
        }
    }

    /// Fails if there is no such key, or no key set.
    pub(crate) async fn get(&self, kid: Option<&Value>) -> Result<PublicKey, RefusalCode> {
        let kid = kid.and_then(Value::as_str).unwrap_or_default();
        match self {
            Self::Fixed(keys) => keys.get(kid).cloned().ok_or(RefusalCode::TokenUnknownKey),
            Self::Fetched(keys) => keys.get(kid).await,
        }
    }
}

pub(crate) struct FetchedKeys {
    source: Arc<Source>,
    /// The fetch that runs. It is a task of its own, so that it ends whoever stops waiting for it.
    flight: Mutex<Option<JoinHandle<()>>>,
}

impl FetchedKeys {
    async fn get(&self, kid: &str) -> Result<PublicKey, RefusalCode> {
        let (age, key) = self.source.find(kid);
        if key.is_none() || age.is_none_or(|age| age >= FRESH) {
            self.refresh().await;
        }
        let (age, key) = self.source.find(kid);
        if age.is_none_or(|age| age >= USABLE) {
            return Err(RefusalCode::KeysUnavailable);
        }
        key.ok_or(RefusalCode::TokenUnknownKey)
    }

    /// One fetch at a time, shared by all callers. A failed one keeps the old keys.
    async fn refresh(&self) {
        let mut flight = self.flight.lock().await;
        let running = match flight.as_mut() {
            Some(running) => running,
            None if self.source.may_fetch() => {
                flight.insert(tokio::spawn(self.source.clone().load()))
            }
            None => return,
        };
        // A fetch that panicked has changed nothing.
        let _ = running.await;
        *flight = None;
    }
}

struct Source {
    url: String,
    http: Http,
    cache: RwLock<Cache>,
}

#[derive(Default)]
struct Cache {
    keys: KeysById,
    fetched_at: Option<Instant>,
    tried_at: Option<Instant>,
}

impl Source {
    /// The age of the keys, and the key.
    fn find(&self, kid: &str) -> (Option<Duration>, Option<PublicKey>) {
        let cache = self.cache.read().unwrap_or_else(PoisonError::into_inner);
        (
            cache.fetched_at.map(|at| at.elapsed()),
            cache.keys.get(kid).cloned(),
        )
    }

    fn may_fetch(&self) -> bool {
        let mut cache = self.cache.write().unwrap_or_else(PoisonError::into_inner);
        let may_fetch = cache.tried_at.is_none_or(|at| at.elapsed() >= COOLDOWN);
        if may_fetch {
            cache.tried_at = Some(Instant::now());
        }
        may_fetch
    }

    async fn load(self: Arc<Self>) {
        let started = Instant::now();
        let Ok(Ok(jwks)) = timeout(FETCH_TIMEOUT, self.fetch()).await else {
            return;
        };
        let keys = import_keys(&jwks);
        let mut cache = self.cache.write().unwrap_or_else(PoisonError::into_inner);
        cache.keys = keys;
        cache.fetched_at = Some(started);
    }

    async fn fetch(&self) -> Result<Jwks, BoxError> {
        let request = Request::get(&self.url)
            .header(header::ACCEPT, "application/json")
            .body(Full::new(Bytes::new()))?;
        let answer = self.http.send(request, JWKS_BYTES_MAX).await?;
        if answer.status != 200 {
            return Err(format!("the key set answers {}", answer.status).into());
        }
        Ok(serde_json::from_slice(&answer.body)?)
    }
}
