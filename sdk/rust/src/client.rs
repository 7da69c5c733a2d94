//! The client for back ends: one object for everything that an API key may do.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use http::{HeaderValue, Method};
use tokio::sync::OnceCell;

use crate::calls::{Call, Limits};
use crate::control::Control;
use crate::error::Error;
use crate::generated::rest::{SignUp, SignedUp};
use crate::http::{Http, read_url, tls};
use crate::inner::Inner;
use crate::rest::Rest;
use crate::services::{
    Alerts, Audit, Billing, Budgets, DeviceCredentials, Keys, Mail, Moderation, Participants,
    Rates, Rooms, Tokens, Usage, Watchdogs, Webhooks,
};

/// The client of one API key. It connects on the first call. Clones share the connections, which are closed
/// when the last clone and its calls are dropped.
#[derive(Clone)]
pub struct Client {
    inner: Arc<Inner>,
}

impl Client {
    /// Options of a client.
    pub fn builder() -> ClientBuilder {
        ClientBuilder::default()
    }

    /// Rooms and their events.
    #[must_use]
    pub fn rooms(&self) -> Rooms {
        Rooms::new(self.inner.clone())
    }

    /// Participants of rooms.
    #[must_use]
    pub fn participants(&self) -> Participants {
        Participants::new(self.inner.clone())
    }

    /// Kicks, bans, mutes.
    #[must_use]
    pub fn moderation(&self) -> Moderation {
        Moderation::new(self.inner.clone())
    }

    /// Tokens for participants.
    #[must_use]
    pub fn tokens(&self) -> Tokens {
        Tokens::new(self.inner.clone())
    }

    /// Credentials for devices without a back end.
    #[must_use]
    pub fn device_credentials(&self) -> DeviceCredentials {
        DeviceCredentials::new(self.inner.clone())
    }

    /// Timers on conditions of rooms.
    #[must_use]
    pub fn watchdogs(&self) -> Watchdogs {
        Watchdogs::new(self.inner.clone())
    }

    /// API keys.
    #[must_use]
    pub fn keys(&self) -> Keys {
        Keys::new(self.inner.clone())
    }

    /// Balance, ledger, payments.
    #[must_use]
    pub fn billing(&self) -> Billing {
        Billing::new(self.inner.clone())
    }

    /// Reports of usage, and what was charged.
    #[must_use]
    pub fn usage(&self) -> Usage {
        Usage::new(self.inner.clone())
    }

    /// Prices.
    #[must_use]
    pub fn rates(&self) -> Rates {
        Rates::new(self.inner.clone())
    }

    /// What may be spent at most.
    #[must_use]
    pub fn budgets(&self) -> Budgets {
        Budgets::new(self.inner.clone())
    }

    /// Alerts of low credit.
    #[must_use]
    pub fn alerts(&self) -> Alerts {
        Alerts::new(self.inner.clone())
    }

    /// Mail about the account.
    #[must_use]
    pub fn mail(&self) -> Mail {
        Mail::new(self.inner.clone())
    }

    /// Webhooks, and the events that they get.
    #[must_use]
    pub fn webhooks(&self) -> Webhooks {
        Webhooks::new(self.inner.clone())
    }

    /// Who changed what.
    #[must_use]
    pub fn audit(&self) -> Audit {
        Audit::new(self.inner.clone())
    }

    /// Create a tenant with its first backend key, which no later answer contains. It needs no API key. The
    /// request is never repeated.
    pub fn sign_up(&self, request: SignUp) -> Call<SignedUp> {
        let inner = self.inner.clone();
        Call::new(move |options| async move {
            inner
                .rest
                .call(Method::POST, "/v1/signup", Some(&request), &options)
                .await
        })
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.debug_struct("Client")
            .field("url", &self.inner.rest.url)
            .finish_non_exhaustive()
    }
}

/// Options of a [`Client`]. `url` and `control_url` are required, and `api_key` for everything but
/// `sign_up` and `rates`.
#[derive(Clone, Default)]
#[must_use]
pub struct ClientBuilder {
    url: String,
    control_url: String,
    api_key: String,
    tenant: Option<String>,
    timeout: Option<Duration>,
    attempt_timeout: Option<Duration>,
    retries: Option<u32>,
    ca_certificates: Option<Vec<u8>>,
}

impl ClientBuilder {
    /// Base URL of the REST interface: `https://boxoffice.example`.
    pub fn url(mut self, url: impl Into<String>) -> Self {
        self.url = url.into();
        self
    }

    /// Address of the control plane: `https://control.example:443`, or `http://` without TLS.
    pub fn control_url(mut self, control_url: impl Into<String>) -> Self {
        self.control_url = control_url.into();
        self
    }

    /// A backend key, or a relay key for `usage().report` and `usage().look_up` alone.
    pub fn api_key(mut self, api_key: impl Into<String>) -> Self {
        self.api_key = api_key.into();
        self
    }

    /// Id of the key's tenant. Default: looked up once, which fails for a suspended tenant.
    pub fn tenant(mut self, tenant: impl Into<String>) -> Self {
        self.tenant = Some(tenant.into());
        self
    }

    /// Time limit of a call with all its attempts. Default 30 s.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// Time limit of each attempt. Default 10 s.
    pub fn attempt_timeout(mut self, timeout: Duration) -> Self {
        self.attempt_timeout = Some(timeout);
        self
    }

    /// Attempts after the first, if a call may be repeated. Default 4.
    pub fn retries(mut self, retries: u32) -> Self {
        self.retries = Some(retries);
        self
    }

    /// CA certificates in PEM, in place of the system's.
    pub fn ca_certificates(mut self, pem: impl Into<Vec<u8>>) -> Self {
        self.ca_certificates = Some(pem.into());
        self
    }

    /// Fails with [`Error::Invalid`] for options that cannot work. It sends nothing.
    pub fn build(self) -> Result<Client, Error> {
        let must_be_http = "must begin with http:// or https://, and have no query";
        let url = read_url(&self.url).ok_or_else(|| Error::invalid("url", must_be_http))?;
        let control_url = read_url(&self.control_url)
            .ok_or_else(|| Error::invalid("control_url", must_be_http))?;
        let authorization = authorization(&self.api_key)?;
        let tls = tls(self.ca_certificates.as_deref())
            .map_err(|error| Error::invalid("ca_certificates", &error.to_string()))?;
        let limits = Limits {
            timeout: self.timeout.unwrap_or(Duration::from_secs(30)),
            attempt_timeout: self.attempt_timeout.unwrap_or(Duration::from_secs(10)),
            retries: self.retries.unwrap_or(4),
        };
        let control = Control::new(control_url, authorization.clone(), &tls);
        let url = url.to_string().trim_end_matches('/').to_owned();
        let rest = Arc::new(Rest {
            url,
            authorization,
            limits,
            http: Http::new(&tls),
        });
        let tenant = OnceCell::new_with(self.tenant);
        Ok(Client {
            inner: Arc::new(Inner {
                control,
                rest,
                limits,
                tenant,
            }),
        })
    }
}

impl fmt::Debug for ClientBuilder {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.debug_struct("ClientBuilder")
            .field("url", &self.url)
            .field("control_url", &self.control_url)
            .finish_non_exhaustive()
    }
}

/// The header that carries the key; none without a key.
fn authorization(api_key: &str) -> Result<Option<HeaderValue>, Error> {
    if api_key.is_empty() {
        return Ok(None);
    }
    let error = || Error::invalid("api_key", "must be printable ASCII characters");
    if !api_key.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err(error());
    }
    let mut value = HeaderValue::try_from(format!("Bearer {api_key}")).map_err(|_| error())?;
    value.set_sensitive(true);
    Ok(Some(value))
}
