/** Compilers of other languages, which not every machine has. */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
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
