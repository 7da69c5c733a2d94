/** A folder that is being written, which no other program takes for a whole one. */
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statfsSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { isAlive } from '../embedded-postgres/cluster.ts';

/** With less, the disk counts as full: PostgreSQL extends its files and its WAL by up to 16 MiB. */
const FULL_BYTES = 32 * 2 ** 20;

/** Runs `work` in a fresh folder of `parent`, which is removed afterwards unless it was renamed. */
export async function inDraft<T>(parent: string, work: (draft: string) => Promise<T>): Promise<T> {
  mkdirSync(parent, { recursive: true, mode: 0o700 });
  // Short, because the path of a server's socket has a limit.
  const prefix = `.boxoffice-${createHash('sha256').update(hostname()).digest('hex').slice(0, 8)}-`;
  removeAbandoned(parent, prefix);
  const draft = mkdtempSync(join(parent, `${prefix}${process.pid}-`));
  try {
    return await work(draft);
  } catch (error) {
    const { message } = error as Error;
    // PostgreSQL writes it large, Node small. There may be room where a quota ends.
    if (roomIn(parent) > FULL_BYTES && !/no space left on device/i.test(message)) throw error;
    throw new Error(`the disk of ${parent} is full: ${message}`);
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
}

/** Those of processes of this machine that were killed. */
function removeAbandoned(parent: string, prefix: string): void {
  for (const name of readdirSync(parent)) {
    if (!name.startsWith(prefix)) continue;
    const pid = /^(\d+)-/.exec(name.slice(prefix.length))?.[1];
    if (pid === undefined || isAlive(Number(pid))) continue;
    rmSync(join(parent, name), { recursive: true, force: true });
  }
}

function roomIn(folder: string): number {
  const { bavail, bsize } = statfsSync(folder);
  return bavail * bsize;
}
