/** Compilers of other languages, which not every machine has. */
import { execFile, execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, globSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { homedir, setPriority } from 'node:os';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';

/** Where the installers put them, if `PATH` does not say. */
const FOLDERS = { go: '/usr/local/go/bin', cargo: join(homedir(), '.cargo/bin') } as const;

export type Tool = keyof typeof FOLDERS;

const ROOT = join(import.meta.dirname, '..');
/** A cache of what is built, so that nothing is built twice. */
const CACHE = join(ROOT, 'node_modules/.cache');

/** Where cargo puts what it builds. */
export const RUST_TARGET = join(CACHE, 'rust');

/** The time limit of a build that begins with nothing, on a busy machine. */
export const BUILD_MS_MAX = 40 * 60_000;

/** Behind what runs beside it, which may have time limits. */
const BUILD_PRIORITY = 5;

/** `PATH` with the folder of the tool's installer at its end. */
export function pathWith(tool: Tool): string {
  return [process.env.PATH ?? '', FOLDERS[tool]].join(delimiter);
}

/** The path of a compiler, on `PATH` or where its installer puts it. Undefined if it is not installed. */
export function findTool(tool: Tool): string | undefined {
  return pathWith(tool)
    .split(delimiter)
    .map((folder) => join(folder, tool))
    .find((path) => existsSync(path));
}

export interface ToolOptions {
  /** Relative to the root of the repository. */
  readonly folder: string;
  readonly env?: NodeJS.ProcessEnv;
  /** What runs has time limits of its own, so it does not go behind the others. */
  readonly hasTimeLimits?: boolean;
}

/** The output of a compiler, of what it builds, or of a program of npm; the error of one that fails shows it. */
export async function runTool(
  command: string,
  args: readonly string[],
  { folder, env, hasTimeLimits = false }: ToolOptions,
): Promise<string> {
  const running = promisify(execFile)(command, args, {
    cwd: join(ROOT, folder),
    env: {
      ...process.env,
      PATH: [join(ROOT, 'node_modules/.bin'), pathWith('go'), FOLDERS.cargo].join(delimiter),
      // These builds are neither debugged nor changed a little.
      ...{ GOCACHE: join(CACHE, 'go'), GOFLAGS: '-p=2 -gcflags=all=-dwarf=false' },
      ...{ CARGO_TARGET_DIR: RUST_TARGET, CARGO_BUILD_JOBS: '2', CARGO_TERM_COLOR: 'never' },
      ...{ CARGO_PROFILE_DEV_DEBUG: '0', CARGO_INCREMENTAL: '0' },
      ...env,
    },
    maxBuffer: 2 ** 26,
    timeout: BUILD_MS_MAX,
  });
  if (running.child.pid !== undefined && !hasTimeLimits) setPriority(running.child.pid, BUILD_PRIORITY);
  try {
    return (await running).stdout;
  } catch (error) {
    const { stdout, stderr, message } = error as Error & { stdout?: string; stderr?: string };
    throw new Error(`${message}\n${stdout ?? ''}${stderr ?? ''}`);
  }
}

/** Python 3.10 with what makes environments, which Debian has apart. */
const HAS_PYTHON = 'import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 10))';

/** Whether the packages of the SDK for Python can be installed. */
export function hasPython(command = 'python3'): boolean {
  try {
    execFileSync(command, ['-c', HAS_PYTHON], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

/** Python 3.10, the oldest that its SDK is for, on `PATH` or where pyenv puts it. Undefined if it is not installed. */
export function findOldestPython(): string | undefined {
  const installed = globSync(join(homedir(), '.pyenv/versions/3.10.*/bin/python3'));
  return ['python3.10', ...installed].find((command) => hasPython(command));
}

/** A Python with the packages of the lock file of its SDK, installed if needed. Undefined: there is no Python for it. */
export async function findPython(command = 'python3'): Promise<string | undefined> {
  if (!hasPython(command)) return undefined;
  const lock = join(ROOT, 'sdk/python/requirements.lock');
  const { stdout: version } = await promisify(execFile)(command, ['-VV']);
  const key = createHash('sha256').update(readFileSync(lock)).update(version).digest('hex').slice(0, 16);
  const folder = join(CACHE, `python-${key}`);
  const python = join(folder, 'bin/python');
  if (existsSync(python)) return python;
  // The process that is done first gives it the name.
  const made = `${folder}-${process.pid}`;
  await runTool(command, ['-m', 'venv', made], { folder: '.' });
  const args = [
    '-m',
    'pip',
    'install',
    '--quiet',
    '--disable-pip-version-check',
    '--require-hashes',
    '-r',
    lock,
  ];
  await runTool(join(made, 'bin/python'), args, { folder: '.' });
  try {
    renameSync(made, folder);
  } catch {
    rmSync(made, { recursive: true });
  }
  return python;
}
