//! Calls with their time limits and retries.

use std::fmt;
use std::future::{Future, IntoFuture};
use std::pin::Pin;
use std::time::Duration;

use tokio::time::{Instant, sleep, timeout};

use crate::error::{Code, Error};

pub(crate) type BoxFuture<T> = Pin<Box<dyn Future<Output = T> + Send>>;

const FIRST_WAIT: Duration = Duration::from_millis(500);
const WAIT_MAX: Duration = Duration::from_secs(10);
/// Limits beyond this are cut to it, so that a time can always be computed.
const TIMEOUT_MAX: Duration = Duration::from_secs(365 * 24 * 3600);

/// The client's defaults for all calls.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    pub(crate) timeout: Duration,
    pub(crate) attempt_timeout: Duration,
    /// Attempts after the first.
    pub(crate) retries: u32,
}

/// What a key of a caller may be.
pub(crate) struct KeyForm {
    /// The first of the characters, which go on up to `~`.
    pub(crate) first: u8,
    pub(crate) length_max: usize,
    pub(crate) accepted: &'static str,
}

/// What one call says about itself.
#[derive(Clone, Debug, Default)]
pub(crate) struct CallOptions {
    pub(crate) timeout: Option<Duration>,
    pub(crate) attempt_timeout: Option<Duration>,
    pub(crate) idempotency_key: Option<String>,
}

impl CallOptions {
    /// A random key, or that of the caller. An empty one would be sent as none, and the call would take effect with
    /// each of its attempts.
    pub(crate) fn key(&self, form: &KeyForm) -> Result<String, Error> {
        let Some(key) = &self.idempotency_key else {
            return random_key();
        };
        let is_accepted = (1..=form.length_max).contains(&key.len())
            && key.bytes().all(|byte| (form.first..=b'~').contains(&byte));
        if !is_accepted {
            return Err(Error::invalid("idempotency_key", form.accepted));
        }
        Ok(key.clone())
    }
}

type Start<T> = Box<dyn FnOnce(CallOptions) -> BoxFuture<Result<T, Error>> + Send>;

/// A call that is sent when it is awaited. To cancel it, drop the future.
#[must_use = "a call is sent when it is awaited"]
pub struct Call<T> {
    options: CallOptions,
    start: Start<T>,
}

impl<T> Call<T> {
    pub(crate) fn new<F>(start: impl FnOnce(CallOptions) -> F + Send + 'static) -> Self
    where
        F: Future<Output = Result<T, Error>> + Send + 'static,
    {
        let start: Start<T> = Box::new(|options| Box::pin(start(options)));
        Self {
            options: CallOptions::default(),
            start,
        }
    }

    /// Time limit of the call with all its attempts. Default: that of the client.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.options.timeout = Some(timeout);
        self
    }

    /// Time limit of each attempt. Default: that of the client.
    pub fn attempt_timeout(mut self, timeout: Duration) -> Self {
        self.options.attempt_timeout = Some(timeout);
        self
    }
}

impl<T: 'static> IntoFuture for Call<T> {
    type Output = Result<T, Error>;
    type IntoFuture = Pin<Box<dyn Future<Output = Result<T, Error>> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        (self.start)(self.options)
    }
}

impl<T> fmt::Debug for Call<T> {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.debug_struct("Call").finish_non_exhaustive()
    }
}

/// A call that changes something. All its attempts have the same idempotency key, so it takes effect once.
#[must_use = "a call is sent when it is awaited"]
pub struct Mutation<T>(Call<T>);

impl<T> Mutation<T> {
    pub(crate) fn new<F>(start: impl FnOnce(CallOptions) -> F + Send + 'static) -> Self
    where
        F: Future<Output = Result<T, Error>> + Send + 'static,
    {
        Self(Call::new(start))
    }

    /// 1 to 128 ASCII characters without spaces; the control plane takes spaces too, and REST up to 255.
    /// Within 24 hours, the same key returns the first answer without a second effect. Default: a random key.
    pub fn idempotency_key(mut self, key: impl Into<String>) -> Self {
        self.0.options.idempotency_key = Some(key.into());
        self
    }

    /// Time limit of the call with all its attempts. Default: that of the client.
    pub fn timeout(self, timeout: Duration) -> Self {
        Self(self.0.timeout(timeout))
    }

    /// Time limit of each attempt. Default: that of the client.
    pub fn attempt_timeout(self, timeout: Duration) -> Self {
        Self(self.0.attempt_timeout(timeout))
    }
}

impl<T: 'static> IntoFuture for Mutation<T> {
    type Output = Result<T, Error>;
    type IntoFuture = Pin<Box<dyn Future<Output = Result<T, Error>> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        self.0.into_future()
    }
}

impl<T> fmt::Debug for Mutation<T> {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.debug_struct("Mutation").finish_non_exhaustive()
    }
}

/// Attempt until it succeeds, fails permanently, or there is no time for another attempt.
pub(crate) async fn attempt_in_time<T, F>(
    limits: &Limits,
    options: &CallOptions,
    may_retry: impl Fn(&Error) -> bool,
    mut attempt: impl FnMut() -> F,
) -> Result<T, Error>
where
    F: Future<Output = Result<T, Error>>,
{
    let total = options.timeout.unwrap_or(limits.timeout).min(TIMEOUT_MAX);
    let each = options.attempt_timeout.unwrap_or(limits.attempt_timeout);
    let ends_at = Instant::now() + total;
    for failures in 0.. {
        let left = ends_at.saturating_duration_since(Instant::now());
        let error = match timeout(each.min(left), attempt()).await {
            Ok(Ok(answer)) => return Ok(answer),
            Ok(Err(error)) => error,
            Err(_) => Error::timeout(),
        };
        if !may_retry(&error) || failures >= limits.retries {
            return Err(error);
        }
        let wait = wait_after(failures, Some(&error))?;
        if Instant::now() + wait >= ends_at {
            return Err(error);
        }
        sleep(wait).await;
    }
    Err(Error::timeout())
}

/// Exponential with full jitter, and at least what the service asks for.
pub(crate) fn wait_after(failures: u32, error: Option<&Error>) -> Result<Duration, Error> {
    let ceiling = FIRST_WAIT
        .saturating_mul(2_u32.saturating_pow(failures))
        .min(WAIT_MAX);
    let at_least = error
        .and_then(|error| error.failure().retry_after)
        .unwrap_or_default();
    Ok(at_least.min(TIMEOUT_MAX) + ceiling.mul_f64(random_fraction()?))
}

/// From 0 to 1.
pub(crate) fn random_fraction() -> Result<f64, Error> {
    let mut bytes = [0; 4];
    fill_randomly(&mut bytes)?;
    Ok(f64::from(u32::from_ne_bytes(bytes)) / f64::from(u32::MAX))
}

/// 32 random hex digits.
fn random_key() -> Result<String, Error> {
    let mut bytes = [0; 16];
    fill_randomly(&mut bytes)?;
    Ok(format!("{:032x}", u128::from_ne_bytes(bytes)))
}

pub(crate) fn fill_randomly(bytes: &mut [u8]) -> Result<(), Error> {
    use ring::rand::{SecureRandom, SystemRandom};
    let error = || Error::bad_answer(Code::None, "the system gives no random numbers");
    SystemRandom::new().fill(bytes).map_err(|_| error())
}
