//! Exclusive ownership of a folder, for the lifetime of a process.
//!
//! The owner listens on a Unix socket in the folder. The operating system closes it with the process, however it ends and
//! in any container, so a dead owner holds nothing and pids are not needed. A process that wants the folder listens first
//! and then connects to the other sockets: of two at once, the later one to connect finds the other listening. So at most
//! one gets the folder. Reporters of the other SDKs do the same.

use std::fs::{self, File};
use std::io::{Error, ErrorKind, Result};
use std::os::fd::AsRawFd;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio::task::JoinHandle;
use tokio::time::sleep;

const PREFIX: &str = "lock.";
/// So that a process without free file descriptors does not try all the time.
const AFTER_FAILURE: Duration = Duration::from_millis(100);

#[derive(Debug)]
pub(super) struct FolderLock {
    path: PathBuf,
    /// The same socket, which listens as long as the lock lives: the runtime may end before.
    _listener: UnixListener,
    answering: JoinHandle<()>,
}

impl FolderLock {
    /// `None` while another reporter owns the folder. `directory` is the folder, open as long as the lock.
    pub(super) fn take(folder: &Path, directory: &File, random: u64) -> Result<Option<Self>> {
        let mine = format!("{PREFIX}{:012x}", random >> 16);
        let listener = UnixListener::bind(socket_path(folder, directory, &mine))?;
        listener.set_nonblocking(true)?;
        let accepting = tokio::net::UnixListener::from_std(listener.try_clone()?)?;
        let answering = tokio::spawn(async move {
            loop {
                // A connection is dropped at once: that it came about says enough.
                if accepting.accept().await.is_err() {
                    sleep(AFTER_FAILURE).await;
                }
            }
        });
        let path = folder.join(&mine);
        let lock = Self {
            path,
            _listener: listener,
            answering,
        };
        Ok(displace_dead(folder, directory, &mine)?.then_some(lock))
    }
}

impl Drop for FolderLock {
    fn drop(&mut self) {
        // First the name, because the task ends later.
        let _ = fs::remove_file(&self.path);
        self.answering.abort();
    }
}

/// Remove the sockets of dead owners. Whether there is no other owner.
fn displace_dead(folder: &Path, directory: &File, mine: &str) -> Result<bool> {
    let mut others = locks_in(folder)?;
    others.retain(|name| name != mine);
    for name in &others {
        if is_alive(&socket_path(folder, directory, name)) {
            return Ok(false);
        }
    }
    // An earlier owner may have mistaken our socket for a dead one and removed it.
    if !locks_in(folder)?.iter().any(|name| name == mine) {
        return Ok(false);
    }
    for name in others {
        remove_if_there(&folder.join(name))?;
    }
    Ok(true)
}

/// The path of a socket. Such paths are limited to about 100 bytes; Linux offers a short one for an open folder.
fn socket_path(folder: &Path, directory: &File, name: &str) -> PathBuf {
    if cfg!(target_os = "linux") {
        return format!("/proc/self/fd/{}/{name}", directory.as_raw_fd()).into();
    }
    folder.join(name)
}

fn locks_in(folder: &Path) -> Result<Vec<String>> {
    let names = fs::read_dir(folder)?.map(|entry| Ok(entry?.file_name().into_string()));
    let names: Vec<_> = names.collect::<Result<_>>()?;
    let names = names.into_iter().filter_map(std::result::Result::ok);
    Ok(names.filter(|name| name.starts_with(PREFIX)).collect())
}

/// Whether an owner listens. Two errors mean that the socket is dead or gone. Any other comes from a live owner.
fn is_alive(path: &Path) -> bool {
    let is_gone = |error: &Error| {
        matches!(
            error.kind(),
            ErrorKind::ConnectionRefused | ErrorKind::NotFound
        )
    };
    UnixStream::connect(path)
        .as_ref()
        .err()
        .is_none_or(|error| !is_gone(error))
}

pub(super) fn remove_if_there(path: &Path) -> Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}
