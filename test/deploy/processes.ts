/** Servers that tests of a deployment start, kill and start again, as the user that PostgreSQL runs as. */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { accessSync, constants, existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { Scratch } from '../support/scratch.ts';

const run = promisify(execFile);

/** Debian's folder of the newest PostgreSQL, if there is one. */
export const POSTGRES_BIN = globSync('/usr/lib/postgresql/*/bin').sort().at(-1);

/** The path of a program; `undefined`: this machine does not have it. */
export function findProgram(name: string): string | undefined {
  const folders = [...(process.env.PATH ?? '').split(':'), '/usr/bin', '/usr/sbin'];
  return folders.map((folder) => join(folder, name)).find(isExecutable);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** The processes of one cluster. Each writes a log into the folder, and ends with this process, however that ends. */
export class Processes {
  readonly #scratch: Scratch;
  readonly #children = new Set<ChildProcess>();

  constructor(scratch: Scratch) {
    this.#scratch = scratch;
  }

  /** Give the folder and all in it to the user of PostgreSQL. */
  async ownFolder(): Promise<void> {
    if (process.getuid!() === 0) await run('chown', ['-R', 'postgres:postgres', this.#scratch.folder]);
  }

  /** Run a program to its end, in the folder. Returns what it prints. */
  async run([program, ...args]: readonly [string, ...string[]]): Promise<string> {
    const options = { cwd: this.#scratch.folder, env: this.#env() };
    return (await run('setpriv', [...identity(), program, ...args], options)).stdout;
  }

  /** Start a program. Its log is `<name>.log`. */
  start(
    name: string,
    [program, ...args]: readonly [string, ...string[]],
    env: Record<string, string> = {},
  ): ChildProcess {
    const log = join(this.#scratch.folder, `${name}.log`);
    const script = 'log=$1; shift; exec "$@" >>"$log" 2>&1';
    const child = spawn(
      'setpriv',
      ['--pdeathsig=KILL', ...identity(), 'sh', '-c', script, 'sh', log, program, ...args],
      { env: { ...this.#env(), ...env }, stdio: 'ignore' },
    );
    this.#children.add(child);
    child.once('exit', () => this.#children.delete(child));
    return child;
  }

  /** The newest lines of every log, for a test that failed. */
  logs(): string {
    return globSync('*.log', { cwd: this.#scratch.folder })
      .map((file) => {
        const lines = readFileSync(join(this.#scratch.folder, file), 'utf8').trimEnd().split('\n');
        return `== ${file}\n${lines.slice(-40).join('\n')}`;
      })
      .join('\n');
  }

  /** Kill what runs, PostgreSQL servers too, and remove the folder. */
  async stop(): Promise<void> {
    const exits = [...this.#children].map((child) => once(child, 'exit'));
    for (const child of this.#children) child.kill('SIGKILL');
    await Promise.all(exits);
    await this.#scratch.remove();
  }

  #env(): Record<string, string> {
    return { PATH: `${POSTGRES_BIN}:/usr/sbin:/usr/bin:/sbin:/bin`, HOME: this.#scratch.folder };
  }
}

/** Servers of PostgreSQL refuse to run as root. */
function identity(): string[] {
  return process.getuid!() === 0 ? ['--reuid=postgres', '--regid=postgres', '--init-groups'] : [];
}

const READY_WITHIN_MS = 180_000;

export async function waitFor<T>(what: string, look: () => Promise<T | undefined | false>): Promise<T> {
  for (const begun = performance.now(); performance.now() - begun < READY_WITHIN_MS; await sleep(100)) {
    const found = await look();
    if (found) return found;
  }
  throw new Error(`no ${what} within ${READY_WITHIN_MS / 1000} s`);
}

/** The postmaster of a data folder and its processes, first the postmaster. Empty if it does not run. */
export function postgresOf(dataFolder: string): number[] {
  const pidFile = join(dataFolder, 'postmaster.pid');
  if (!existsSync(pidFile)) return [];
  const parent = Number.parseInt(readFileSync(pidFile, 'utf8'), 10);
  return [parent, ...childrenOf(parent)];
}

/** The processes that a process has started and that run. */
export function childrenOf(parent: number): number[] {
  return globSync('/proc/[0-9]*/stat').flatMap((file) => {
    try {
      const [, pid, ppid] = /^(\d+) \(.*\) \S (\d+)/s.exec(readFileSync(file, 'utf8'))!;
      return Number(ppid) === parent ? [Number(pid)] : [];
    } catch {
      // It has just ended.
      return [];
    }
  });
}

/** Some of the processes may have just ended. */
export function signal(pids: readonly number[], name: NodeJS.Signals): void {
  for (const pid of pids) {
    try {
      process.kill(pid, name);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
    }
  }
}
