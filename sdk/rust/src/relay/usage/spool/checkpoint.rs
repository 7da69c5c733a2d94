//! What running sessions have used since their last record, kept on disk.

use std::collections::HashSet;
use std::fs::{self, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use serde::Deserialize;

use super::{Reply, Spool, Work, locked};
use crate::relay::usage::error::UsageError;
use crate::relay::usage::event::UsageEvent;
use crate::relay::usage::folder_lock::remove_if_there;
use crate::relay::usage::segment::{encode_entry, parse_segment};

impl Spool {
    fn running_path(&self) -> PathBuf {
        self.options.folder.join("running.records")
    }

    /// Keep what running sessions have used. It has no error: it is repeated soon.
    pub(in crate::relay::usage) fn checkpoint(&self) {
        self.write_checkpoint(&mut locked(&self.work));
    }

    pub(super) fn write_checkpoint(&self, work: &mut Work) {
        // After a failed write it is not known which records are on disk: the last checkpoint still tells.
        let is_broken = locked(&self.state).broken.is_some();
        if is_broken || work.is_over {
            return;
        }
        let lines = (self.options.running)();
        if lines.is_empty() && !work.has_checkpoint {
            return;
        }
        match self.replace_running(&lines) {
            Ok(()) => work.has_checkpoint = !lines.is_empty(),
            Err(cause) => self.emit(UsageEvent::CheckpointFailed { cause }),
        }
    }

    fn replace_running(&self, lines: &[String]) -> io::Result<()> {
        if lines.is_empty() {
            return remove_if_there(&self.running_path());
        }
        let mut entries = Vec::new();
        for line in lines {
            encode_entry(&mut entries, line);
        }
        let path = self.running_path().with_extension("records.new");
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(true).mode(0o600);
        let mut file = options.open(&path)?;
        file.write_all(&entries)?;
        file.sync_data()?;
        drop(file);
        fs::rename(path, self.running_path())?;
        self.directory.sync_all()
    }

    /// What the sessions of the earlier start had used since their last record becomes records.
    pub(super) fn recover_running(&self) -> Result<(), UsageError> {
        let path = self.running_path();
        let text = match fs::read(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(UsageError::store_failed(error)),
        };
        let parsed = parse_segment(&text);
        self.emit_corrupt(&path, &parsed);
        let recorded = self.recorded_ids();
        let failure = Arc::new(Mutex::new(None));
        for line in parsed.lines {
            if recorded.contains(&id_of(&line)) {
                continue;
            }
            let failure = failure.clone();
            let note = Box::new(move |result: Result<(), UsageError>| {
                if let Err(error) = result {
                    *locked(&failure) = Some(error);
                }
            });
            self.append(vec![line], Reply::Listener(note));
        }
        self.sync();
        if let Some(error) = locked(&failure).take() {
            return Err(error);
        }
        remove_if_there(&path).map_err(UsageError::store_failed)
    }

    /// Of all records that an earlier start has left.
    fn recorded_ids(&self) -> HashSet<String> {
        let segments = locked(&self.state).sealed.clone();
        let lines = segments.iter().filter_map(|segment| self.read(segment));
        lines.flatten().map(|line| id_of(&line)).collect()
    }
}

/// The id of a record; empty for what is none.
pub(in crate::relay::usage) fn id_of(line: &str) -> String {
    #[derive(Default, Deserialize)]
    struct Identified {
        id: String,
    }
    serde_json::from_str(line)
        .unwrap_or(Identified::default())
        .id
}
