/** A temporary folder for servers and files, which is removed even if the process is killed. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface Scratch {
  readonly folder: string;
  /** Stops the PostgreSQL servers in the folder, and removes it. */
  remove(): Promise<void>;
}

const MEMORY = '/dev/shm';
/** A test run needs less than a quarter of it. */
const MEMORY_BYTES_MIN = 4 * 2 ** 30;

/** In memory where there is enough, unless `isOnDisk`. */
export function openScratch(prefix: string, { isOnDisk = false } = {}): Scratch {
  const folder = mkdtempSync(join(!isOnDisk && hasMemory() ? MEMORY : tmpdir(), prefix));
  return { folder, remove: watchOver(folder) };
}

/** Databases are many files that live for seconds: on a disk, creating them takes twice the system time. */
function hasMemory(): boolean {
  try {
    const { bavail, bsize } = statfsSync(MEMORY);
    return Math.min(bavail * bsize, process.availableMemory()) >= MEMORY_BYTES_MIN;
  } catch {
    return false;
  }
}

/**
 * A shell that outlives this process: it reads from a pipe that closes when the process ends in any way,
 * then stops the servers that still run in the folder and removes it.
 */
function watchOver(folder: string): () => Promise<void> {
  const script = `cat >/dev/null
    find "$1" -name postmaster.pid | while read -r file; do kill -KILL "$(head -n 1 "$file")"; done
    for try in 1 2 3 4 5 6 7 8 9; do rm -rf "$1" && break; sleep 0.5; done`;
  const watcher = spawn('sh', ['-c', script, 'sh', folder], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  watcher.unref();
  return async () => {
    const exit = once(watcher, 'exit');
    watcher.ref();
    watcher.stdin.end();
    await exit;
  };
}
