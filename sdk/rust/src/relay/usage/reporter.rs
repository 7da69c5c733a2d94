//! Accepts usage, stores records on disk, and sends batches.

use std::fmt;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use tokio::sync::{Mutex, oneshot, watch};
use tokio::task::{JoinSet, spawn_blocking};
use tokio::time::timeout;

use super::batches::{BATCH_BYTES_MAX, BATCH_RECORDS_MAX, BatchLimits};
use super::error::{UsageError, UsageErrorCode};
use super::event::{Emit, UsageEvent};
use super::record::{MeasuredParticipant, ParticipantUsage, is_id_part};
use super::sender::{Admission, KeySource, Random, Sender, SenderOptions};
use super::session::{Ids, Sessions, UsageSession};
use super::spool::{Reply, Spool, SpoolOptions, blocking};
use crate::calls::{fill_randomly, random_fraction};
use crate::http::{Http, read_url, tls};

/// How long [`UsageReporter::close`] sends.
const CLOSE_WAIT: Duration = Duration::from_secs(5);
const HOUR: Duration = Duration::from_secs(3600);

/// Unsettled records on disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Pending {
    /// The files that hold them.
    pub segments: usize,
    /// Records in these files.
    pub records: usize,
}

/// The service, the spool folder, and the limits of batches. `url`, `key` (or `key_file` or `key_source`), `spool` and
/// `relay_id` are required.
#[derive(Clone)]
#[must_use]
pub struct UsageReporterBuilder {
    url: String,
    key: Option<KeySource>,
    spool: PathBuf,
    relay_id: String,
    ca_certificates: Option<Vec<u8>>,
    interval: Duration,
    limits: BatchLimits,
    batch_wait: Duration,
    emit: Emit,
    random: Random,
}

impl UsageReporterBuilder {
    /// Base URL of the service: `https://billing.example.com`.
    pub fn url(mut self, url: impl Into<String>) -> Self {
        self.url = url.into();
        self
    }

    /// A relay key that never changes.
    pub fn key(self, key: impl Into<String>) -> Self {
        let key = key.into();
        self.key_source(move || Ok(key.clone()))
    }

    /// A file that holds the relay key.
    pub fn key_file(self, path: impl Into<PathBuf>) -> Self {
        let path = path.into();
        self.key_source(move || std::fs::read_to_string(&path))
    }

    /// Returns the relay key. It is called at the start and after each 401, so that a key can be replaced. It may block, but
    /// has to return. White space around the key does not matter.
    pub fn key_source(
        mut self,
        source: impl Fn() -> io::Result<String> + Send + Sync + 'static,
    ) -> Self {
        self.key = Some(Arc::new(source));
        self
    }

    /// A folder on a local disk for this reporter alone. It is created if necessary.
    pub fn spool(mut self, folder: impl Into<PathBuf>) -> Self {
        self.spool = folder.into();
        self
    }

    /// Names the relay within its tenant: 1 to 64 of `A-Z a-z 0-9 _ -`.
    pub fn relay_id(mut self, id: impl Into<String>) -> Self {
        self.relay_id = id.into();
        self
    }

    /// CA certificates in PEM, in place of the system's.
    pub fn ca_certificates(mut self, pem: impl Into<Vec<u8>>) -> Self {
        self.ca_certificates = Some(pem.into());
        self
    }

    /// How often running sessions become records, from a second to an hour. Default: 30 seconds.
    pub fn interval(mut self, interval: Duration) -> Self {
        self.interval = interval;
        self
    }

    /// A batch is sent when it has this many records, at most 5,000. Default: 1,000.
    pub fn batch_records(mut self, records: usize) -> Self {
        self.limits.records = records;
        self
    }

    /// Or this many bytes, below 1 MiB. Default: 700,000.
    pub fn batch_bytes(mut self, bytes: usize) -> Self {
        self.limits.bytes = bytes;
        self
    }

    /// Or when its first record is this old, at most an hour. Default: 5 seconds.
    pub fn batch_wait(mut self, wait: Duration) -> Self {
        self.batch_wait = wait;
        self
    }

    /// Is called for every event, from several threads. It must neither block nor drop the reporter.
    pub fn on_event(mut self, listener: impl Fn(&UsageEvent) + Send + Sync + 'static) -> Self {
        self.emit = Emit(Arc::new(listener));
        self
    }

    /// For tests: numbers from 0 to 1.
    pub fn random(mut self, random: impl Fn() -> f64 + Send + Sync + 'static) -> Self {
        self.random = Arc::new(random);
        self
    }

    /// Start a reporter. It needs a runtime of tokio, with its timers and its network. Fails with `InvalidOptions` or
    /// `SpoolInUse`, or with `SpoolFailed` if the folder cannot be used.
    pub async fn open(self) -> Result<UsageReporter, UsageError> {
        let (url, key_source, http) = self.check()?;
        let mut random = [0; 8];
        let no_random = |_| UsageError::store_failed(io::Error::other("no random numbers"));
        fill_randomly(&mut random).map_err(no_random)?;
        let start = random.split_at(6).0;
        let ids = Arc::new(Ids {
            prefix: format!("{}.{}", self.relay_id, BASE64_URL_SAFE_NO_PAD.encode(start)),
            made: AtomicU64::new(0),
        });
        let sessions = Arc::new(Sessions::new(ids.clone(), self.emit.clone()));
        let running = sessions.clone();
        let options = SpoolOptions {
            folder: std::path::absolute(&self.spool).map_err(UsageError::store_failed)?,
            limits: self.limits,
            emit: self.emit.clone(),
            running: Box::new(move || running.lines()),
            random: u64::from_ne_bytes(random),
        };
        let opened = spawn_blocking(move || Spool::open(options)).await;
        let spool = Arc::new(opened.map_err(|_| UsageError::closed())??);
        let admission = Admission::default();
        let (drain, is_draining) = watch::channel(false);
        let (mut keepers, mut senders) = (JoinSet::new(), JoinSet::new());
        keepers.spawn(spool.clone().write_waiting_lines());
        keepers.spawn(sessions.clone().keep(spool.clone(), self.interval));
        let sender = Sender::new(SenderOptions {
            url,
            http,
            key_source,
            limits: self.limits,
            batch_wait: self.batch_wait,
            random: self.random,
            spool: spool.clone(),
            admission: admission.clone(),
            emit: self.emit,
            is_draining,
        });
        senders.spawn(sender.run());
        Ok(UsageReporter {
            spool,
            sessions,
            ids,
            admission,
            tasks: Mutex::new(Some(Tasks {
                keepers,
                senders,
                drain,
            })),
        })
    }

    /// The address of reports, the source of the key, and the connections.
    fn check(&self) -> Result<(String, KeySource, Http), UsageError> {
        let url = read_url(&self.url).ok_or_else(|| {
            invalid("url must begin with http:// or https://, and have no user, query or fragment")
        })?;
        let key = self.key.clone().ok_or_else(|| invalid("key is required"))?;
        if self.spool.as_os_str().is_empty() {
            return Err(invalid("spool is required"));
        }
        if !is_id_part(&self.relay_id) {
            return Err(invalid("relay_id must be 1 to 64 of A-Z a-z 0-9 _ -"));
        }
        if !(Duration::from_secs(1)..=HOUR).contains(&self.interval) {
            return Err(invalid("interval must be from 1 second to 1 hour"));
        }
        if !(1..=BATCH_RECORDS_MAX).contains(&self.limits.records) {
            return Err(invalid("batch_records must be from 1 to 5000"));
        }
        if !(1..=BATCH_BYTES_MAX).contains(&self.limits.bytes) {
            return Err(invalid("batch_bytes must be from 1 to 1048575"));
        }
        if self.batch_wait > HOUR {
            return Err(invalid("batch_wait must be at most 1 hour"));
        }
        let tls = tls(self.ca_certificates.as_deref())
            .map_err(|error| invalid(&format!("ca_certificates: {error}")))?;
        let base = url.to_string();
        let base = base.trim_end_matches('/');
        Ok((format!("{base}/v1/usage"), key, Http::new(&tls)))
    }
}

impl fmt::Debug for UsageReporterBuilder {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.debug_struct("UsageReporterBuilder")
            .field("url", &self.url)
            .field("spool", &self.spool)
            .field("relay_id", &self.relay_id)
            .finish_non_exhaustive()
    }
}

fn invalid(message: &str) -> UsageError {
    UsageError::new(UsageErrorCode::InvalidOptions, message)
}

struct Tasks {
    /// They write to the spool.
    keepers: JoinSet<()>,
    /// One.
    senders: JoinSet<()>,
    drain: watch::Sender<bool>,
}

/// Accepts usage, stores records on disk, and sends batches, until it is closed or dropped.
///
/// Dropped, it stops at once: what was acknowledged, and what running sessions have used, is on disk and is sent at the
/// next start.
pub struct UsageReporter {
    spool: Arc<Spool>,
    sessions: Arc<Sessions>,
    ids: Arc<Ids>,
    admission: Admission,
    /// `None` once it is closed.
    tasks: Mutex<Option<Tasks>>,
}

impl UsageReporter {
    /// What a reporter needs is given to the builder.
    pub fn builder() -> UsageReporterBuilder {
        UsageReporterBuilder {
            url: String::new(),
            key: None,
            spool: PathBuf::new(),
            relay_id: String::new(),
            ca_certificates: None,
            interval: Duration::from_secs(30),
            limits: BatchLimits {
                records: 1_000,
                bytes: 700_000,
            },
            batch_wait: Duration::from_secs(5),
            emit: Emit(Arc::new(|_| {})),
            // Without random numbers, wait in full.
            random: Arc::new(|| random_fraction().unwrap_or(1.0)),
        }
    }

    /// Whether new participants may come in. While it is `Some(false)`, admit none: those who are present stay, and are
    /// reported. It is `None` before the first answer, and keeps its value while the service is unreachable.
    #[must_use]
    pub fn admitted(&self) -> Option<bool> {
        self.admission.get()
    }

    /// Unsettled records on disk.
    #[must_use]
    pub fn pending(&self) -> Pending {
        let (segments, records) = self.spool.pending();
        Pending { segments, records }
    }

    /// Store the usage of one participant in one interval. Returns the ids once they are on disk.
    ///
    /// After an error, nothing of it is stored: `InvalidUsage`, `SpoolFailed`, `SpoolBroken` or `Closed`. After
    /// `SpoolFailed`, the same usage may be recorded again. Dropped before the lines are written, which takes 200 ms, the
    /// call stores nothing.
    pub async fn record(&self, usage: ParticipantUsage) -> Result<Vec<String>, UsageError> {
        usage.check()?;
        let session_id = usage.of.session_id.as_deref().unwrap_or("0");
        let (ids, lines) = usage.render(&self.ids.next(session_id))?;
        let (reply, stored) = oneshot::channel();
        self.spool.append(lines, Reply::Caller(reply));
        stored.await.unwrap_or_else(|_| Err(UsageError::closed()))?;
        Ok(ids)
    }

    /// Measure the usage of a participant from now on, and record it in intervals.
    pub fn start_session(&self, who: MeasuredParticipant) -> Result<UsageSession, UsageError> {
        self.sessions.begin(&self.spool, who)
    }

    /// Write to disk now what [`UsageReporter::record`] was given, rather than within 200 ms.
    pub async fn sync(&self) {
        blocking(&self.spool, Spool::sync).await;
    }

    /// End all sessions, write everything to disk, and send until all is sent, for 5 seconds at most. The rest is sent at
    /// the next start. Returns its number of records.
    pub async fn close(&self) -> usize {
        self.close_within(CLOSE_WAIT).await
    }

    /// [`UsageReporter::close`] with another time limit for the sending. Dropped before its end, it can be called again.
    pub async fn close_within(&self, limit: Duration) -> usize {
        let mut open = self.tasks.lock().await;
        if let Some(tasks) = open.as_mut() {
            self.sessions.end_all(&self.spool);
            blocking(&self.spool, Spool::seal).await;
            tasks.drain.send_replace(true);
            if timeout(limit, tasks.senders.join_next()).await.is_err() {
                tasks.senders.shutdown().await;
            }
            blocking(&self.spool, Spool::finish).await;
            tasks.keepers.shutdown().await;
            // At the end, so that another call completes one that was dropped.
            *open = None;
        }
        self.pending().records
    }
}

impl Drop for UsageReporter {
    fn drop(&mut self) {
        // The tasks end with their set.
        self.spool.finish();
    }
}

impl fmt::Debug for UsageReporter {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.debug_struct("UsageReporter")
            .field("pending", &self.pending())
            .finish_non_exhaustive()
    }
}
