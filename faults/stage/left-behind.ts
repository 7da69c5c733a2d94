/**
 * What a campaign leaves behind if it is killed: processes, mounts, loop devices and folders. It notes them in a file while it runs. The next
 * campaign ends and removes what is in the file of one that has gone.
 *
 * A process is known by its id and the time of its start, so that one that has got the id later is left alone.
 */
import { execFileSync } from 'node:child_process';
import {
  existsSync,
  lstatSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { signal } from '../../test/deploy/processes.ts';

const PREFIX = 'boxoffice-faults-';
const FILE = 'run.json';
const PARENTS: ReadonlySet<string> = new Set([tmpdir(), '/dev/shm']);
const NOTE_EVERY_MS = 1_000;
const TRIES_MAX = 250;
const TRY_EVERY_MS = 20;

/** In ticks since the machine started. */
type Started = readonly [pid: number, startedAt: string];

interface Noted {
  /** Where process ids mean the same. */
  readonly boot: string;
  readonly space: string;
  readonly campaign: Started;
  readonly processes: readonly Started[];
  readonly folders: readonly string[];
}

interface Running {
  readonly parent: number;
  readonly startedAt: string;
}

export class LeftBehind {
  readonly #home: string | undefined;
  readonly #folders: string[] = [];
  #written = '';

  /** Without `/proc`, it notes nothing. */
  constructor() {
    if (findBoot() === undefined) return;
    this.#home = mkdtempSync(join(tmpdir(), PREFIX));
    this.#note();
    setInterval(() => this.#note(), NOTE_EVERY_MS).unref();
  }

  /** A folder of this campaign, in which a file system may be mounted. */
  add(folder: string): void {
    this.#folders.push(folder);
    this.#note();
  }

  /** At the end of this process, which waits for nothing else. */
  remove(): void {
    if (this.#home === undefined) return;
    this.#note();
    clean(this.#home, JSON.parse(this.#written) as Noted);
  }

  #note(): void {
    if (this.#home === undefined) return;
    const running = readRunning();
    const noted: Noted = {
      ...{ boot: findBoot()!, space: findSpace() },
      campaign: [process.pid, running.get(process.pid)!.startedAt],
      processes: descendantsOf([process.pid], running).map((pid) => [pid, running.get(pid)!.startedAt]),
      folders: this.#folders,
    };
    const text = JSON.stringify(noted);
    if (text === this.#written) return;
    this.#written = text;
    writeFileSync(join(this.#home, `${FILE}.new`), text, { mode: 0o600 });
    renameSync(join(this.#home, `${FILE}.new`), join(this.#home, FILE));
  }
}

/** Cleans up after campaigns that have gone. Returns how many there were. */
export function removeLeftBehind(parent = tmpdir()): number {
  if (findBoot() === undefined) return 0;
  const left = readdirSync(parent)
    .filter((name) => name.startsWith(PREFIX))
    .map((name) => join(parent, name))
    .flatMap((home) => {
      const noted = readNoted(home);
      return noted && isGone(noted) ? [{ home, noted }] : [];
    });
  for (const { home, noted } of left) clean(home, noted);
  return left.length;
}

/** `undefined`: there is none, or another user could have written it. */
function readNoted(home: string): Noted | undefined {
  try {
    const file = join(home, FILE);
    if (![home, file].every(isOwn)) return undefined;
    return JSON.parse(readFileSync(file, 'utf8')) as Noted;
  } catch {
    return undefined;
  }
}

function isOwn(path: string): boolean {
  const found = lstatSync(path);
  return found.uid === process.getuid!() && !found.isSymbolicLink();
}

function isGone({ boot, space, campaign: [pid, startedAt] }: Noted): boolean {
  if (boot !== findBoot()) return true;
  return space === findSpace() && readRunning().get(pid)?.startedAt !== startedAt;
}

function clean(home: string, { boot, processes, folders }: Noted): void {
  if (boot === findBoot()) endAll(processes);
  for (const folder of folders.filter(isOfCampaign)) {
    unmountIn(folder);
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  }
  rmSync(home, { recursive: true, force: true });
}

/** With what they have started since it was noted. Returns when they are gone. */
function endAll(noted: readonly Started[]): void {
  const running = readRunning();
  const own = noted.flatMap(([pid, startedAt]) => (running.get(pid)?.startedAt === startedAt ? [pid] : []));
  const all = [...new Set([...own, ...descendantsOf(own, running)])];
  signal(all, 'SIGKILL');
  tryAgain(() => {
    const still = readRunning();
    return !all.some((pid) => still.get(pid)?.startedAt === running.get(pid)?.startedAt);
  });
}

function isOfCampaign(folder: string): boolean {
  const isNamed = PARENTS.has(dirname(folder)) && basename(folder).startsWith(PREFIX);
  return isNamed && existsSync(folder) && isOwn(folder);
}

/** A loop device goes with the mount that has it, unless it was never mounted. */
function unmountIn(folder: string): void {
  for (const mounted of mountsIn(folder))
    if (!tryAgain(() => succeeds('umount', [mounted]))) succeeds('umount', ['--lazy', mounted]);
  const image = join(folder, 'image');
  if (!existsSync(image)) return;
  for (const device of outputOf('losetup', ['--noheadings', '--output', 'NAME', '--associated', image]))
    succeeds('losetup', ['--detach', device]);
}

/** Source: proc_pid_mountinfo(5): the fifth field is the mount point. */
function mountsIn(folder: string): string[] {
  const lines = readFileSync('/proc/self/mountinfo', 'utf8').split('\n');
  return lines.map((line) => line.split(' ')[4] ?? '').filter((path) => path.startsWith(`${folder}/`));
}

/** Those that have ended count as gone, even if their parent does not know it yet. Source: proc_pid_stat(5). */
function readRunning(): ReadonlyMap<number, Running> {
  const running = new Map<number, Running>();
  for (const name of readdirSync('/proc').filter((each) => /^\d+$/.test(each))) {
    try {
      const stat = readFileSync(`/proc/${name}/stat`, 'utf8');
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      if (fields[0] !== 'Z') running.set(Number(name), { parent: Number(fields[1]), startedAt: fields[19]! });
    } catch {
      // It has just ended.
    }
  }
  return running;
}

function descendantsOf(pids: readonly number[], running: ReadonlyMap<number, Running>): number[] {
  const children = [...running].flatMap(([pid, { parent }]) => (pids.includes(parent) ? [pid] : []));
  return children.length === 0 ? [] : [...children, ...descendantsOf(children, running)];
}

/** `undefined`: this system has no `/proc`. */
function findBoot(): string | undefined {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  } catch {
    return undefined;
  }
}

function findSpace(): string {
  return readlinkSync('/proc/self/ns/pid');
}

/** Returns whether it succeeded at last. Nothing else of this process goes on meanwhile. */
function tryAgain(act: () => boolean): boolean {
  for (let tries = 1; tries <= TRIES_MAX; tries += 1) {
    if (act()) return true;
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, TRY_EVERY_MS);
  }
  return false;
}

function succeeds(program: string, args: readonly string[]): boolean {
  return outputOf(program, args) !== FAILED;
}

const FAILED: readonly string[] = [];

/** Its lines. */
function outputOf(program: string, args: readonly string[]): readonly string[] {
  try {
    const text = execFileSync(program, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
    return text.trim().split('\n');
  } catch {
    return FAILED;
  }
}
