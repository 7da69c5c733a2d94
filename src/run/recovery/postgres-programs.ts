/** PostgreSQL's own programs: where they are, and how they run. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { codeOf } from '../../base/lib/error-code.ts';
import { atExit } from '../at-exit.ts';
import { findServerProgram, type ServerProgram } from '../embedded-postgres/user.ts';

/** Debian's folder, with one for each major version. */
const INSTALLATIONS = '/usr/lib/postgresql';

export interface Running {
  /** The database that it connects to. */
  readonly url?: string;
  /** Default: the newest one. */
  readonly majorVersion?: number;
  readonly ending: AbortSignal;
}

/** Run a program to its end. Fails with its own words, in one line. */
export async function runPostgres(
  name: string,
  args: readonly string[],
  { url, majorVersion, ending }: Running,
): Promise<void> {
  ending.throwIfAborted();
  const { dbname, env } = connectionOf(url);
  const child = spawn(findProgram(name, majorVersion) ?? name, [...args, ...dbname], {
    env: { ...machine(), ...env },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const end = () => void child.kill();
  const forget = atExit(end);
  ending.addEventListener('abort', end);
  try {
    const { code, said } = await endOf(child);
    ending.throwIfAborted();
    if (code !== 0) throw new Error(firstError(said) ?? `${name} ended with ${code}`);
  } finally {
    forget();
    ending.removeEventListener('abort', end);
  }
}

/** The end of what a program says. */
const SAID_MAX = 64 * 2 ** 10;

async function endOf(child: ChildProcess): Promise<{ code: number | null; said: string }> {
  let said = '';
  child.stderr!.setEncoding('utf8').on('data', (text: string) => {
    said = (said + text).slice(-SAID_MAX);
  });
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('close', resolve);
    child.once('error', (error) => reject(codeOf(error) === 'ENOENT' ? missing(child.spawnfile) : error));
  });
  return { code, said };
}

const missing = (name: string) =>
  new Error(`there is no ${name} on this machine: install the client programs of PostgreSQL`);

/** What follows that line may hold values of rows, so none is taken where it may have been cut off. */
function firstError(said: string): string | undefined {
  const lines = said.trim().split('\n');
  const isWhole = said.length < SAID_MAX;
  const error = lines.slice(isWhole ? 0 : 1).find((line) => /error: |fatal: /i.test(line));
  return (error ?? (isWhole ? lines.at(-1) : undefined)) || undefined;
}

/** Our environment holds secrets. Variables of libpq may name certificates. */
function machine(): Record<string, string> {
  const names = Object.keys(process.env).filter((name) => /^(PATH|HOME|TMPDIR|PG[A-Z]+)$/.test(name));
  return { ...Object.fromEntries(names.map((name) => [name, process.env[name]!])), LC_ALL: 'C' };
}

/** The password goes by the environment: arguments are there for all users of the machine to read. */
function connectionOf(url: string | undefined): { dbname: string[]; env: Record<string, string> } {
  if (url === undefined) return { dbname: [], env: {} };
  const address = new URL(url);
  const query = new URLSearchParams(address.search);
  // As `pg` does, the one of the query goes first.
  const password = query.get('password') || decodeURIComponent(address.password);
  address.password = '';
  query.delete('password');
  // No variable has it. The connection that came first would have needed it, and takes keys without a password alone.
  query.delete('sslpassword');
  // For libpq, + is no space.
  address.search = query.toString().replaceAll('+', '%20');
  return { dbname: [`--dbname=${address.href}`], env: password === '' ? {} : { PGPASSWORD: password } };
}

/** `undefined`: it is found by PATH, if at all. */
function findProgram(name: string, majorVersion?: number): string | undefined {
  const versions = existsSync(INSTALLATIONS) ? readdirSync(INSTALLATIONS) : [];
  return versions
    .filter((version) => majorVersion === undefined || Number(version) === majorVersion)
    .sort((one, other) => Number(other) - Number(one))
    .map((version) => join(INSTALLATIONS, version, 'bin', name))
    .find((path) => existsSync(path));
}

/** A server of the same major version can open the files of `dir`. */
export function findServer(dir: string, majorVersion: number): ServerProgram {
  const embedded = findServerProgram(dir);
  const installed = findProgram('postgres', majorVersion);
  const homes = [...(installed === undefined ? [] : [dirname(dirname(installed))]), embedded.home];
  const home = homes.find((each) => majorOf(join(each, 'bin', 'postgres')) === majorVersion);
  if (home === undefined) throw new Error(`there is no PostgreSQL ${majorVersion} on this machine`);
  return { ...embedded, home };
}

function majorOf(program: string): number {
  const { stdout } = spawnSync(program, ['--version'], { encoding: 'utf8', env: {} });
  return Number(/ (\d+)\./.exec(stdout ?? '')?.[1]);
}
