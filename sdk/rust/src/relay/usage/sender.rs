//! Sends the records of the spool, oldest first, one request at a time, until all are sent.
//!
//! Source: specification 4.12, charging rule 4. The number of attempts is unlimited: a record leaves the spool only when
//! the service has answered for it.

use std::future::poll_fn;
use std::io;
use std::path::PathBuf;
use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::Poll;
use std::time::Duration;

use tokio::sync::watch;
use tokio::task::spawn_blocking;
use tokio::time::{Instant, sleep_until, timeout, timeout_at};

use super::batches::{BatchLimits, render_batch, split_batches};
use super::error::{UsageError, UsageErrorCode};
use super::event::{Emit, RetryReason, UsageEvent};
use super::post::{Counts, Failed, Outcome, post};
use super::spool::{Segment, Spool, blocking, id_of, kept_path};
use crate::http::Http;
use crate::secret::Secret;

/// A refused key is tried again after this time, in case the refusal was a mistake.
const SAME_KEY_WAIT: Duration = Duration::from_secs(60);
/// From an answer to the empty batch that asks for admission, plus or minus `POLL_JITTER` of it.
const POLL_WAIT: Duration = Duration::from_secs(15);
const POLL_JITTER: f64 = 0.2;
const FIRST_RETRY: Duration = Duration::from_millis(500);
const RETRY_MAX: Duration = Duration::from_secs(60);
const KEY_READ_MAX: Duration = Duration::from_secs(30);

/// Reads the relay key, on a thread that may block.
pub(super) type KeySource = Arc<dyn Fn() -> io::Result<String> + Send + Sync>;
/// Numbers from 0 to 1.
pub(super) type Random = Arc<dyn Fn() -> f64 + Send + Sync>;

pub(super) struct SenderOptions {
    pub(super) url: String,
    pub(super) http: Http,
    pub(super) key_source: KeySource,
    pub(super) limits: BatchLimits,
    /// How long the first record of a batch waits for more.
    pub(super) batch_wait: Duration,
    pub(super) random: Random,
    pub(super) spool: Arc<Spool>,
    pub(super) admission: Admission,
    pub(super) emit: Emit,
    /// True to end when all is sent.
    pub(super) is_draining: watch::Receiver<bool>,
}

/// Whether new participants are admitted; `None` before the first answer.
#[derive(Clone, Debug, Default)]
pub(super) struct Admission(Arc<Mutex<Option<bool>>>);

impl Admission {
    pub(super) fn get(&self) -> Option<bool> {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn replace(&self, admitted: bool) -> Option<bool> {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        state.replace(admitted)
    }
}

pub(super) struct Sender {
    options: SenderOptions,
    failures: u32,
    key: Option<Secret>,
    /// A key that was refused, and when.
    refused_key: Option<(Secret, Instant)>,
    /// The earliest time of the next request, and of the next empty batch.
    not_before: Instant,
    poll_at: Instant,
}

/// What the service says of a batch in the end.
enum Answered {
    Accepted(Counts),
    Refused(String),
}

impl Sender {
    pub(super) fn new(options: SenderOptions) -> Self {
        let now = Instant::now();
        Self {
            options,
            failures: 0,
            key: None,
            refused_key: None,
            not_before: now,
            poll_at: now,
        }
    }

    pub(super) async fn run(mut self) {
        loop {
            if let Some(oldest) = self.options.spool.oldest() {
                self.send_segment(oldest).await;
            } else if *self.options.is_draining.borrow() {
                return;
            } else {
                self.wait_or_poll().await;
            }
        }
    }

    /// Do what is due while there is no segment to send, or wait for it.
    async fn wait_or_poll(&mut self) {
        let spool = self.options.spool.clone();
        let mut draining = self.options.is_draining.clone();
        let is_draining = async move { drop(draining.wait_for(|is| *is).await) };
        let now = Instant::now();
        let poll_at = self.poll_at.max(self.not_before);
        let batch_at = spool
            .open_since()
            .map(|since| since + self.options.batch_wait);
        if batch_at.is_some_and(|at| at <= now) {
            blocking(&spool, Spool::seal).await;
        } else if poll_at <= now {
            until(is_draining, self.attempt(&[])).await;
        } else {
            let next = batch_at.unwrap_or(poll_at).min(poll_at);
            let _ = timeout_at(next, until(is_draining, spool.changed.notified())).await;
        }
    }

    /// Settle every record of a segment: accepted, or quarantined.
    async fn send_segment(&mut self, from: Segment) {
        let spool = self.options.spool.clone();
        let file = from.clone();
        let Some(Some(lines)) = blocking(&spool, move |spool| spool.read(&file)).await else {
            return;
        };
        let mut is_settled = true;
        for batch in split_batches(&lines, self.options.limits) {
            is_settled &= self.send_batch(batch, &from).await;
        }
        blocking(&spool, move |spool| spool.settle(&from, !is_settled)).await;
    }

    /// Halve a refused batch until the faulty records are isolated, so that they do not hold up the others. False means
    /// that a person should inspect the segment.
    async fn send_batch(&mut self, lines: &[String], from: &Segment) -> bool {
        let mut is_settled = true;
        let mut parts = vec![lines];
        while let Some(part) = parts.pop() {
            match (self.send_until_answered(part).await, part) {
                (Answered::Accepted(counts), _) => {
                    is_settled &= self.counts_agree(counts, part.len() as u64, from);
                }
                (Answered::Refused(message), [line]) => {
                    is_settled &= self.quarantine(line, message, from).await;
                }
                (Answered::Refused(_), _) => {
                    let (first, second) = part.split_at(part.len() / 2);
                    parts.extend([second, first]);
                }
            }
        }
        is_settled
    }

    fn counts_agree(&self, counts: Counts, records: u64, from: &Segment) -> bool {
        let Counts {
            charged,
            duplicates,
            unbilled,
            ..
        } = counts;
        let sum = charged.saturating_add(duplicates).saturating_add(unbilled);
        self.options.emit.emit(if sum == records {
            UsageEvent::BatchAccepted {
                records,
                charged,
                duplicates,
                unbilled,
            }
        } else {
            UsageEvent::CountsDiffer {
                records,
                charged,
                duplicates,
                unbilled,
                file: kept_path(from),
            }
        });
        sum == records
    }

    /// Put a record aside. If the quarantine cannot be written, as on a full disk, the segment itself is kept.
    async fn quarantine(&self, line: &str, message: String, from: &Segment) -> bool {
        let spool = &self.options.spool;
        let id = id_of(line);
        let (line, reason) = (line.to_owned(), message.clone());
        let written = blocking(spool, move |spool| spool.quarantine(&line, &reason)).await;
        let is_written = matches!(written, Some(Ok(())));
        let file: PathBuf = if is_written {
            spool.quarantine_path()
        } else {
            kept_path(from)
        };
        self.options
            .emit
            .emit(UsageEvent::RecordQuarantined { id, message, file });
        is_written
    }

    /// Repeat the same batch until the service accepts or refuses it.
    async fn send_until_answered(&mut self, lines: &[String]) -> Answered {
        loop {
            let Some(answered) = self.attempt(lines).await else {
                continue;
            };
            let is_condemned = lines.len() == 1 && matches!(answered, Answered::Refused(_));
            // Before a record is condemned: a service that refuses even an empty batch says nothing about the record.
            if !is_condemned || self.attempt(&[]).await.is_some() {
                return answered;
            }
        }
    }

    /// One request, at its time. `None`: the batch is to be sent again, and the wait is already set.
    async fn attempt(&mut self, lines: &[String]) -> Option<Answered> {
        sleep_until(self.not_before).await;
        let key = self.current_key().await?;
        let SenderOptions { http, url, .. } = &self.options;
        match post(http, url, &key, render_batch(lines)).await {
            Outcome::Accepted(counts) => {
                self.note_accepted(counts.admitted);
                Some(Answered::Accepted(counts))
            }
            Outcome::Refused { status, .. } if lines.is_empty() => {
                self.retry_later(Failed::answered(RetryReason::UnexpectedAnswer, status));
                None
            }
            Outcome::Refused { message, .. } => Some(Answered::Refused(message)),
            Outcome::KeyRefused => {
                self.key = None;
                self.refused_key = Some((key, Instant::now()));
                let retry = self.delay(Duration::ZERO);
                self.options.emit.emit(UsageEvent::KeyRefused { retry });
                None
            }
            Outcome::Retry(failed) => {
                self.retry_later(failed);
                None
            }
        }
    }

    fn note_accepted(&mut self, admitted: bool) {
        self.failures = 0;
        self.refused_key = None;
        let jitter = 1.0 + POLL_JITTER * (2.0 * (self.options.random)() - 1.0);
        self.poll_at = Instant::now() + POLL_WAIT.mul_f64(jitter);
        let before = self.options.admission.replace(admitted);
        if before != Some(admitted) {
            let changed = UsageEvent::AdmittedChanged { admitted, before };
            self.options.emit.emit(changed);
        }
    }

    /// The key to send with, if there is one.
    async fn current_key(&mut self) -> Option<Secret> {
        if let Some(key) = &self.key {
            return Some(key.clone());
        }
        let key = match read_key(&self.options.key_source).await {
            Ok(key) => key,
            Err(cause) => {
                let retry = self.delay(Duration::ZERO);
                self.options
                    .emit
                    .emit(UsageEvent::KeyFailed { cause, retry });
                return None;
            }
        };
        if let Some((refused, at)) = &self.refused_key
            && *refused == key
            && at.elapsed() < SAME_KEY_WAIT
        {
            self.delay(Duration::ZERO);
            return None;
        }
        self.key = Some(key.clone());
        Some(key)
    }

    fn retry_later(&mut self, failed: Failed) {
        let retry = self.delay(failed.after);
        self.options.emit.emit(UsageEvent::SendFailed {
            reason: failed.reason,
            status: failed.status,
            cause: failed.cause,
            attempt: self.failures,
            retry,
        });
    }

    /// Delay the next request, after a failure: exponentially with full jitter, and without a limit on attempts.
    fn delay(&mut self, at_least: Duration) -> Duration {
        let doubled = FIRST_RETRY.saturating_mul(2_u32.saturating_pow(self.failures));
        self.failures = self.failures.saturating_add(1);
        let delay = doubled.min(RETRY_MAX).mul_f64((self.options.random)());
        let delay = delay.max(at_least);
        self.not_before = Instant::now() + delay;
        delay
    }
}

async fn read_key(source: &KeySource) -> Result<Secret, UsageError> {
    let unreadable = |message| UsageError::new(UsageErrorCode::KeyUnreadable, message);
    let source = source.clone();
    let read = timeout(KEY_READ_MAX, spawn_blocking(move || source())).await;
    let read = read.map_err(|_| unreadable("the relay key did not come"))?;
    let read = read.map_err(|_| unreadable("the source of the relay key panicked"))?;
    let text = read.map_err(|cause| {
        let message = "the relay key cannot be read";
        UsageError::because(UsageErrorCode::KeyUnreadable, message, cause)
    })?;
    let key = text.trim_matches(|c: char| c.is_whitespace() || c == '\u{feff}');
    let is_key = !key.is_empty() && key.bytes().all(|byte| (0x21..=0x7e).contains(&byte));
    is_key
        .then(|| Secret::from(key))
        .ok_or_else(|| unreadable("what the source returned is not a key"))
}

/// The work, unless the end comes first.
async fn until<T>(end: impl Future<Output = ()>, work: impl Future<Output = T>) -> Option<T> {
    let (mut end, mut work) = (pin!(end), pin!(work));
    poll_fn(|context| match work.as_mut().poll(context) {
        Poll::Ready(done) => Poll::Ready(Some(done)),
        Poll::Pending => end.as_mut().poll(context).map(|()| None),
    })
    .await
}
