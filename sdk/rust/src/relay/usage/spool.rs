//! Keeps records on disk, from their acknowledgement until the service has them.
//!
//! A folder of numbered segment files (`segment.rs`). New records are appended to the open segment, and many share one
//! fsync. A sealed segment is never written again: a batch is made from it, and it is deleted once the service has
//! settled all its records. Segments of an earlier start are sealed. What running sessions have used since their last
//! record is kept beside it, and becomes records at the next start.
//!
//! ```text
//! 0000000042.segment   records to be sent
//! 0000000007.kept      a segment for a person to inspect
//! quarantine.jsonl     records the service refused, with the reason
//! running.records      what running sessions would record if they ended now
//! lock.*               the owner of the folder
//! ```
//!
//! All functions that touch the disk block: see [`blocking`].

mod checkpoint;
mod open_segment;

use std::collections::VecDeque;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::{Notify, oneshot};
use tokio::task::spawn_blocking;
use tokio::time::{Duration, Instant, timeout};

use super::batches::{BatchLimits, bytes_of};
use super::error::{UsageError, UsageErrorCode};
use super::event::{Emit, UsageEvent};
use super::folder_lock::FolderLock;
use super::segment::parse_segment;
pub(super) use checkpoint::id_of;
use open_segment::OpenSegment;

/// Flush when this many records wait for the disk,
const SYNC_RECORDS: usize = 64;
/// or when one has waited this long.
const SYNC_WAIT: Duration = Duration::from_millis(200);
/// A segment that cannot be read is tried again after this time.
const READ_AGAIN_WAIT: Duration = Duration::from_secs(60);

const SEGMENT: &str = "segment";
const KEPT: &str = "kept";

pub(super) struct SpoolOptions {
    pub(super) folder: PathBuf,
    /// A segment never exceeds a batch, so that one request sends it all.
    pub(super) limits: BatchLimits,
    pub(super) emit: Emit,
    /// What running sessions would record if they ended now, under the ids that it will have.
    pub(super) running: Box<dyn Fn() -> Vec<String> + Send + Sync>,
    /// For the name of the lock.
    pub(super) random: u64,
}

/// A sealed file.
#[derive(Clone, Debug)]
pub(super) struct Segment {
    path: PathBuf,
    records: usize,
    /// Acknowledged bytes of the file.
    file_bytes: usize,
    /// Some bytes are damaged.
    is_corrupt: bool,
}

/// Where the result of an append goes.
pub(super) enum Reply {
    /// A caller, who may have left.
    Caller(oneshot::Sender<Result<(), UsageError>>),
    Listener(Box<dyn FnOnce(Result<(), UsageError>) + Send>),
}

/// The lines of one call, which become durable together or not at all.
struct Append {
    lines: Vec<String>,
    body_bytes: usize,
    reply: Reply,
}

impl Append {
    /// A caller who leaves before the lines are written takes them along.
    fn is_wanted(&self) -> bool {
        !matches!(&self.reply, Reply::Caller(caller) if caller.is_closed())
    }

    fn finish(self, result: Result<(), UsageError>) {
        match self.reply {
            Reply::Caller(caller) => drop(caller.send(result)),
            Reply::Listener(listener) => listener(result),
        }
    }
}

/// The work on files. It is taken before the state.
#[derive(Default)]
struct Work {
    /// The usage of running sessions is on disk.
    has_checkpoint: bool,
    /// The folder may belong to another reporter.
    is_over: bool,
    /// Until it is over.
    lock: Option<FolderLock>,
}

#[derive(Default)]
struct State {
    sealed: VecDeque<Segment>,
    /// Those that cannot be read now, and when each is tried again.
    unread: VecDeque<(Instant, Segment)>,
    open: Option<OpenSegment>,
    last_number: u64,
    waiting: VecDeque<Append>,
    waiting_records: usize,
    /// Why no more records are accepted.
    refusal: Option<UsageError>,
    /// Why none is written.
    broken: Option<UsageError>,
}

pub(super) struct Spool {
    options: SpoolOptions,
    directory: File,
    work: Mutex<Work>,
    state: Mutex<State>,
    /// Lines wait for the disk; enough of them do.
    arrived: Notify,
    full: Notify,
    /// There is something new to send, or soon will be.
    pub(super) changed: Notify,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Work with files, on a thread that may block. It is done even if the caller leaves. `None` at the end of the runtime.
pub(super) async fn blocking<T: Send + 'static>(
    spool: &Arc<Spool>,
    work: impl FnOnce(&Spool) -> T + Send + 'static,
) -> Option<T> {
    let spool = spool.clone();
    spawn_blocking(move || work(&spool)).await.ok()
}

impl Spool {
    /// Lock the folder, and load what an earlier start left in it.
    pub(super) fn open(options: SpoolOptions) -> Result<Self, UsageError> {
        let failed = UsageError::store_failed;
        let mut builder = DirBuilder::new();
        builder.recursive(true).mode(0o700);
        builder.create(&options.folder).map_err(failed)?;
        let directory = File::open(&options.folder).map_err(failed)?;
        let lock = FolderLock::take(&options.folder, &directory, options.random).map_err(failed)?;
        let Some(lock) = lock else {
            let folder = options.folder.display();
            let message = format!("the spool {folder} is in use by another reporter");
            return Err(UsageError::new(UsageErrorCode::SpoolInUse, message));
        };
        let work = Work {
            lock: Some(lock),
            ..Work::default()
        };
        let spool = Self {
            options,
            directory,
            work: Mutex::new(work),
            state: Mutex::default(),
            arrived: Notify::new(),
            full: Notify::new(),
            changed: Notify::new(),
        };
        spool.recover()?;
        Ok(spool)
    }

    fn recover(&self) -> Result<(), UsageError> {
        let failed = UsageError::store_failed;
        let mut paths = Vec::new();
        for entry in fs::read_dir(&self.options.folder).map_err(failed)? {
            paths.push(entry.map_err(failed)?.path());
        }
        paths.sort();
        let mut torn_bytes = 0;
        for path in paths {
            let Some((number, kind)) = read_name(&path) else {
                continue;
            };
            let mut state = locked(&self.state);
            state.last_number = state.last_number.max(number);
            drop(state);
            if kind == SEGMENT {
                torn_bytes += self.recover_segment(path);
            }
        }
        self.recover_running()?;
        let (segments, records) = self.pending();
        if segments > 0 {
            self.emit(UsageEvent::SpoolRecovered {
                segments,
                records,
                torn_bytes,
            });
        }
        Ok(())
    }

    /// Returns the bytes of an incomplete entry from the earlier start.
    fn recover_segment(&self, path: PathBuf) -> usize {
        let text = match fs::read(&path) {
            Ok(text) => text,
            Err(cause) => {
                self.put_off(Segment {
                    path: path.clone(),
                    records: 0,
                    file_bytes: usize::MAX,
                    // It is not known to be whole, so the file stays.
                    is_corrupt: true,
                });
                self.emit(UsageEvent::SegmentFailed { file: path, cause });
                return 0;
            }
        };
        let parsed = parse_segment(&text);
        self.emit_corrupt(&path, &parsed);
        locked(&self.state).sealed.push_back(Segment {
            path,
            records: parsed.lines.len(),
            file_bytes: text.len(),
            is_corrupt: !parsed.corrupt.is_empty(),
        });
        parsed.torn_bytes
    }

    fn emit_corrupt(&self, path: &Path, parsed: &super::segment::Parsed) {
        for stretch in &parsed.corrupt {
            self.emit(UsageEvent::SegmentCorrupt {
                file: path.to_owned(),
                offset: stretch.offset,
                bytes: stretch.bytes,
            });
        }
    }

    /// Segments that are not settled, and their records.
    pub(super) fn pending(&self) -> (usize, usize) {
        let state = locked(&self.state);
        let sealed = state.sealed.iter().map(|segment| segment.records);
        let unread = state.unread.iter().map(|(_, segment)| segment.records);
        let open = state.open.iter().map(|open| open.records);
        let all = sealed.chain(unread).chain(open);
        all.fold((0, 0), |(segments, sum), records| {
            (segments + 1, sum + records)
        })
    }

    /// When the first record of the open segment was stored.
    pub(super) fn open_since(&self) -> Option<Instant> {
        locked(&self.state).open.as_ref().map(|open| open.since)
    }

    /// The next segment to send.
    pub(super) fn oldest(&self) -> Option<Segment> {
        let mut state = locked(&self.state);
        let State { sealed, unread, .. } = &mut *state;
        let now = Instant::now();
        while unread.front().is_some_and(|(at, _)| *at <= now) {
            sealed.extend(unread.pop_front().map(|(_, segment)| segment));
        }
        sealed.front().cloned()
    }

    /// Begin to store lines, all or none.
    ///
    /// After an error none of them is stored, so the call can be repeated.
    pub(super) fn append(&self, lines: Vec<String>, reply: Reply) {
        let body_bytes = lines.iter().map(|line| bytes_of(line)).sum();
        let append = Append {
            lines,
            body_bytes,
            reply,
        };
        let mut state = locked(&self.state);
        if let Some(refusal) = state.refusal.clone() {
            drop(state);
            append.finish(Err(refusal));
            return;
        }
        state.waiting_records += append.lines.len();
        state.waiting.push_back(append);
        let is_full = state.waiting_records >= SYNC_RECORDS;
        drop(state);
        self.arrived.notify_one();
        if is_full {
            self.full.notify_one();
        }
    }

    /// Store waiting lines, again and again.
    pub(super) async fn write_waiting_lines(self: Arc<Self>) {
        loop {
            self.arrived.notified().await;
            let _ = timeout(SYNC_WAIT, self.full.notified()).await;
            blocking(&self, Self::sync).await;
        }
    }

    /// Store the waiting lines. It has no error: each append tells its own caller.
    pub(super) fn sync(&self) {
        self.write_waiting(&locked(&self.work));
    }

    /// Store the waiting lines, and seal the open segment so that it can be sent.
    pub(super) fn seal(&self) {
        let work = locked(&self.work);
        self.write_waiting(&work);
        self.seal_open();
    }

    /// Store the waiting lines and the usage of running sessions, and release the folder. Nothing is written later.
    pub(super) fn finish(&self) {
        let mut state = locked(&self.state);
        state.refusal.get_or_insert_with(UsageError::closed);
        drop(state);
        let mut work = locked(&self.work);
        if work.is_over {
            return;
        }
        self.write_waiting(&work);
        self.seal_open();
        self.write_checkpoint(&mut work);
        work.is_over = true;
        work.lock = None;
    }

    /// The records of a segment, as they were stored. `None` skips it, for a minute if it is still there.
    pub(super) fn read(&self, segment: &Segment) -> Option<Vec<String>> {
        match fs::read(&segment.path) {
            Ok(mut text) => {
                text.truncate(segment.file_bytes);
                Some(parse_segment(&text).lines)
            }
            Err(cause) => {
                if cause.kind() == ErrorKind::NotFound {
                    self.forget(segment);
                } else {
                    self.put_off(segment.clone());
                }
                let file = segment.path.clone();
                self.emit(UsageEvent::SegmentFailed { file, cause });
                None
            }
        }
    }

    /// End a segment whose records are all settled: delete it, or keep it for a person to inspect.
    pub(super) fn settle(&self, segment: &Segment, is_kept: bool) {
        let mut work = locked(&self.work);
        if work.is_over {
            return;
        }
        // A checkpoint from before these records has their ids. Without the segment, the next start would report them
        // again.
        if work.has_checkpoint {
            self.write_checkpoint(&mut work);
        }
        let done = if is_kept || segment.is_corrupt {
            fs::rename(&segment.path, kept_path(segment))
        } else {
            fs::remove_file(&segment.path)
        };
        if let Err(cause) = done {
            let file = segment.path.clone();
            self.emit(UsageEvent::SegmentFailed { file, cause });
        }
        self.forget(segment);
    }

    fn forget(&self, gone: &Segment) {
        let mut state = locked(&self.state);
        state.sealed.retain(|each| each.path != gone.path);
    }

    /// Try a segment again later, and others meanwhile.
    fn put_off(&self, unread: Segment) {
        let mut state = locked(&self.state);
        state.sealed.retain(|each| each.path != unread.path);
        let again = Instant::now() + READ_AGAIN_WAIT;
        state.unread.push_back((again, unread));
    }

    pub(super) fn quarantine_path(&self) -> PathBuf {
        self.options.folder.join("quarantine.jsonl")
    }

    /// Keep a refused record with the reason. After a crash before `settle` it may be there twice.
    pub(super) fn quarantine(&self, line: &str, message: &str) -> io::Result<()> {
        let mut options = OpenOptions::new();
        options.append(true).create(true).mode(0o600);
        let mut file = options.open(self.quarantine_path())?;
        let length = file.metadata()?.len();
        let message = serde_json::to_string(message)?;
        let written = file
            .write_all(format!("{{\"message\":{message},\"record\":{line}}}\n").as_bytes())
            .and_then(|()| file.sync_data());
        if written.is_err() {
            // Half a line would spoil the next one.
            let _ = file.set_len(length);
        }
        written?;
        self.directory.sync_all()
    }

    fn emit(&self, event: UsageEvent) {
        self.options.emit.emit(event);
    }
}

/// Where `settle` keeps a segment.
pub(super) fn kept_path(segment: &Segment) -> PathBuf {
    segment.path.with_extension(KEPT)
}

/// The number of a segment, and whether it is to be sent.
fn read_name(path: &Path) -> Option<(u64, &str)> {
    let (number, kind) = path.file_name()?.to_str()?.split_once('.')?;
    let is_number = number.len() == 10 && number.bytes().all(|byte| byte.is_ascii_digit());
    let is_segment = is_number && [SEGMENT, KEPT].contains(&kind);
    is_segment.then(|| Some((number.parse().ok()?, kind)))?
}
