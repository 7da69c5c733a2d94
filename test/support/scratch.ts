/** A temporary folder for servers and files, which is removed even if the process is killed. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface Scratch {
  readonly folder: string;
  /** Stops the PostgreSQL servers in the folder, and removes it. */
  remove(): Promise<void>;
}

export function openScratch(prefix: string): Scratch {
  const folder = mkdtempSync(join(tmpdir(), prefix));
  return { folder, remove: watchOver(folder) };
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
