//! The file to which records are appended.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;
use std::sync::Arc;

use tokio::time::Instant;

use super::{Append, SEGMENT, Segment, Spool, State, Work, locked};
use crate::relay::usage::batches::ENVELOPE_BYTES;
use crate::relay::usage::error::{UsageError, UsageErrorCode};
use crate::relay::usage::segment::encode_entry;

pub(super) struct OpenSegment {
    path: PathBuf,
    file: Arc<File>,
    /// When its first record was stored.
    pub(super) since: Instant,
    pub(super) records: usize,
    file_bytes: usize,
    body_bytes: usize,
}

impl Spool {
    /// Store the lines that wait now. Later ones are left to the next call, so that a busy relay can seal.
    pub(super) fn write_waiting(&self, work: &Work) {
        let mut left = locked(&self.state).waiting.len();
        while left > 0 {
            let (group, is_more) = self.take_group();
            if !group.is_empty() {
                left = left.saturating_sub(group.len());
                let result = self.write_group(&group, work);
                for append in group {
                    append.finish(result.clone());
                }
            } else if is_more {
                self.seal_open();
            } else {
                return;
            }
        }
    }

    /// As many waiting calls as fit into the open segment; at least one if the segment is empty. Whether calls wait.
    fn take_group(&self) -> (Vec<Append>, bool) {
        let limits = self.options.limits;
        let mut state = locked(&self.state);
        let State { open, waiting, .. } = &mut *state;
        waiting.retain(Append::is_wanted);
        let open = open.as_ref();
        let (mut records, mut bytes) =
            open.map_or((0, ENVELOPE_BYTES), |open| (open.records, open.body_bytes));
        let fitting = waiting.iter().take_while(|append| {
            let is_first = records == 0;
            records += append.lines.len();
            bytes += append.body_bytes;
            is_first || (records <= limits.records && bytes <= limits.bytes)
        });
        let count = fitting.count();
        let is_more = !waiting.is_empty();
        let group = waiting.drain(..count).collect();
        state.waiting_records = state.waiting.iter().map(|each| each.lines.len()).sum();
        (group, is_more)
    }

    /// Store calls, all or none.
    fn write_group(&self, group: &[Append], work: &Work) -> Result<(), UsageError> {
        if work.is_over {
            return Err(UsageError::closed());
        }
        if let Some(broken) = locked(&self.state).broken.clone() {
            return Err(broken);
        }
        let (file, file_bytes) = self.file().map_err(UsageError::store_failed)?;
        let mut entries = Vec::new();
        for line in group.iter().flat_map(|append| &append.lines) {
            encode_entry(&mut entries, line);
        }
        let written = (&*file).write_all(&entries);
        if let Err(cause) = written.and_then(|()| file.sync_data()) {
            undo(&file, file_bytes).map_err(|cause| self.break_down(cause))?;
            // A file that failed once is not written again.
            self.seal_open();
            return Err(UsageError::store_failed(cause));
        }
        if self.note_written(group, entries.len()) {
            self.seal_open();
        } else {
            self.changed.notify_one();
        }
        Ok(())
    }

    /// The file of the open segment, and its length.
    fn file(&self) -> io::Result<(Arc<File>, usize)> {
        let state = locked(&self.state);
        if let Some(open) = &state.open {
            return Ok((open.file.clone(), open.file_bytes));
        }
        drop(state);
        Ok((self.create_segment()?, 0))
    }

    /// Whether the open segment is full.
    fn note_written(&self, group: &[Append], bytes: usize) -> bool {
        locked(&self.state).open.as_mut().is_some_and(|open| {
            open.records += group.iter().map(|append| append.lines.len()).sum::<usize>();
            open.body_bytes += group.iter().map(|append| append.body_bytes).sum::<usize>();
            open.file_bytes += bytes;
            open.records >= self.options.limits.records
        })
    }

    fn create_segment(&self) -> io::Result<Arc<File>> {
        let mut state = locked(&self.state);
        state.last_number += 1;
        let name = format!("{:010}.{SEGMENT}", state.last_number);
        drop(state);
        let path = self.options.folder.join(name);
        let mut options = OpenOptions::new();
        options.append(true).create_new(true).mode(0o600);
        let file = Arc::new(options.open(&path)?);
        // Without this, a power failure could lose the name of the file, and so all of it.
        if let Err(error) = self.directory.sync_all() {
            let _ = fs::remove_file(&path);
            return Err(error);
        }
        locked(&self.state).open = Some(OpenSegment {
            path,
            file: file.clone(),
            since: Instant::now(),
            records: 0,
            file_bytes: 0,
            body_bytes: ENVELOPE_BYTES,
        });
        Ok(file)
    }

    fn break_down(&self, cause: io::Error) -> UsageError {
        let message = "a failed write could not be taken back";
        let broken = UsageError::because(UsageErrorCode::SpoolBroken, message, cause);
        let mut state = locked(&self.state);
        state.broken = Some(broken.clone());
        state.refusal = Some(broken.clone());
        broken
    }

    /// End the open segment, if there is one.
    pub(super) fn seal_open(&self) {
        let mut state = locked(&self.state);
        let Some(open) = state.open.take() else {
            return;
        };
        let OpenSegment {
            path,
            records,
            file_bytes,
            ..
        } = open;
        if records == 0 {
            drop(state);
            let _ = fs::remove_file(path);
            return;
        }
        // Everything acknowledged was synced before, so closing the file cannot lose data.
        state.sealed.push_back(Segment {
            path,
            records,
            file_bytes,
            is_corrupt: false,
        });
        drop(state);
        self.changed.notify_one();
    }
}

/// Roll back a failed write, so that the caller may record the same usage again without having it charged twice.
fn undo(file: &File, file_bytes: usize) -> io::Result<()> {
    file.set_len(u64::try_from(file_bytes).unwrap_or(u64::MAX))?;
    file.sync_data()
}
