/**
 * One PostgreSQL cluster on disk and its server process: create, find, start, stop.
 *
 * This file does not know who uses the cluster; see `embedded-postgres.ts`.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import * as fs from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { codeOf } from '../../base/lib/error-code.ts';
import { keepFile } from '../../base/lib/keep-file.ts';
import { atExit } from '../at-exit.ts';
import { findFreePort } from '../free-port.ts';
import { type Account, findServerProgram, type ServerProgram } from './user.ts';

/** The part of a logger that is used here. */
export interface Log {
  info(message: string): void;
  warn(message: string): void;
}

/** A cluster in `dir`; `password` is that of its superuser `postgres`. Not `durable`: for tests only. */
export interface Cluster {
  readonly dataDir: string;
  readonly dir: string;
  readonly password: string;
  readonly durable: boolean;
  readonly program: ServerProgram;
}

/** A running server as its `postmaster.pid` describes it. */
export interface Postmaster {
  readonly pid: number;
  readonly port: number;
  readonly status: string;
}

export const SUPERUSER = 'postgres';

/** Poll interval: short compared with the 100 ms that a server start takes. */
export const STEP_MS = 10;

const RECOVERY_MS_MAX = 600_000;
const FAST_SHUTDOWN_MS_MAX = 10_000;
const IMMEDIATE_SHUTDOWN_MS_MAX = 5_000;
const LOG_BYTES_MAX = 1 << 20;
const PORT_TRIES_MAX = 5;

/** The longest path of a Unix socket. Source: `sun_path` of unix(4) on macOS, without its end mark; Linux has 4 more. */
const SOCKET_PATH_BYTES_MAX = 103;

/**
 * Open the cluster of `dataDir`. Creates folder, password and cluster if they are missing.
 *
 * `ending`: gives up, and leaves no process and no draft behind.
 */
export async function openCluster(
  path: string,
  durable: boolean,
  log: Log,
  ending?: AbortSignal,
): Promise<Cluster> {
  ending?.throwIfAborted();
  fs.mkdirSync(path, { recursive: true, mode: 0o700 });
  // The server runs inside its folder, so a relative path would resolve differently there.
  const dataDir = fs.realpathSync(path);
  const dir = join(dataDir, 'postgres');
  // In this order: another starter may rename its whole cluster into place at any moment.
  const occupied = fs.existsSync(dir) && fs.readdirSync(dir).length > 0;
  const exists = fs.existsSync(join(dir, 'PG_VERSION'));
  if (occupied && !exists) {
    throw new Error(`${dir} holds something that is no PostgreSQL cluster`);
  }
  const owner = fs.statSync(dir, { throwIfNoEntry: false })?.uid;
  if (owner !== undefined && process.getuid?.() !== 0 && owner !== process.getuid?.()) {
    throw new Error(`${dir} belongs to another user (uid ${owner}): start as that user`);
  }

  const program = findServerProgram(dir);
  const password = openPassword(join(dataDir, 'postgres.password'), exists);
  const cluster = { dataDir, dir, password, durable, program };
  if (!exists) await createCluster(cluster, log, ending);
  return cluster;
}

function openPassword(path: string, clusterExists: boolean): string {
  if (clusterExists && !fs.existsSync(path)) {
    throw new Error(`${path} is missing: the embedded database cannot be opened without it`);
  }
  return keepFile(path, () => randomBytes(32).toString('base64url')).trim();
}

/** Initialise next to the final path, then rename: there is a whole cluster or none. */
async function createCluster(cluster: Cluster, log: Log, ending: AbortSignal | undefined): Promise<void> {
  log.info(`creating the embedded database in ${cluster.dir}`);
  removeAbandonedDrafts(cluster.dataDir);
  const draft = fs.mkdtempSync(join(cluster.dataDir, `postgres.new-${process.pid}-`));
  const passwordFile = `${draft}.password`;
  fs.writeFileSync(passwordFile, cluster.password, { mode: 0o600 });
  try {
    give(draft, cluster.program.account);
    give(passwordFile, cluster.program.account);
    await runInitdb(cluster, draft, passwordFile, ending);
    fs.renameSync(draft, cluster.dir);
  } catch (error) {
    // Another starter was faster; its cluster has the same password.
    if (!fs.existsSync(join(cluster.dir, 'PG_VERSION'))) throw error;
  } finally {
    fs.rmSync(passwordFile, { force: true });
    fs.rmSync(draft, { recursive: true, force: true });
  }
}

function removeAbandonedDrafts(dataDir: string): void {
  for (const name of fs.readdirSync(dataDir)) {
    const owner = /^postgres\.new-(\d+)-/.exec(name)?.[1];
    if (owner !== undefined && !isAlive(Number(owner))) {
      fs.rmSync(join(dataDir, name), { recursive: true, force: true });
    }
  }
}

function give(path: string, account: Account | undefined): void {
  if (account !== undefined) fs.chownSync(path, account.uid, account.gid);
}

async function runInitdb(
  cluster: Cluster,
  dir: string,
  passwordFile: string,
  ending: AbortSignal | undefined,
): Promise<void> {
  const passwordFd = fs.openSync(passwordFile, 'r');
  const { cwd, seenAs, ...options } = launch(cluster.program, dir);
  const child = spawn(
    join(cluster.program.home, 'bin', 'initdb'),
    [
      ...['--pgdata', seenAs, '--username', SUPERUSER, '--auth', 'scram-sha-256', '--pwfile', '/dev/fd/3'],
      ...[
        '--encoding',
        'UTF8',
        '--locale',
        'C',
        '--locale-provider',
        'builtin',
        '--builtin-locale',
        'C.UTF-8',
      ],
      ...(cluster.durable ? [] : ['--no-sync']),
    ],
    // A group of its own: it runs programs of PostgreSQL, which end with it.
    { ...options, cwd, detached: true, stdio: ['ignore', 'ignore', 'pipe', passwordFd] },
  );
  fs.closeSync(passwordFd);
  const end = () => killGroup(child, 'SIGTERM');
  const forget = atExit(() => killGroup(child, 'SIGKILL'));
  ending?.addEventListener('abort', end, { once: true });

  let complaint = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    complaint += text;
  });
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  }).finally(() => {
    forget();
    ending?.removeEventListener('abort', end);
  });
  ending?.throwIfAborted();
  if (code !== 0) throw new Error(`initdb failed: ${lastWords(complaint) ?? `exit code ${code}`}`);
}

/** A child that leads a group, and what it started. */
function killGroup({ pid, exitCode, signalCode }: ChildProcess, signal: NodeJS.Signals): void {
  if (pid !== undefined && exitCode === null && signalCode === null) process.kill(-pid, signal);
}

/**
 * How to start a program on `dir`. Only PATH is passed on: our environment holds secrets.
 *
 * The account may have no access to a parent folder. The child therefore changes to `dir` before it
 * drops root, and reaches it through `/proc/self/cwd`, which traverses no parent. Every backend
 * inherits that working directory.
 */
function launch(program: ServerProgram, dir: string) {
  const env = { PATH: process.env.PATH ?? '', LC_ALL: 'C', TZ: 'UTC' };
  if (program.account === undefined) return { env, cwd: dir, seenAs: dir };
  return { env, cwd: dir, seenAs: process.platform === 'linux' ? '/proc/self/cwd' : dir, ...program.account };
}

/**
 * The server that runs on this cluster, regardless of which process started it.
 *
 * A lock file whose process is dead is left to PostgreSQL, which removes it. One whose pid now
 * belongs to another process (a restarted container counts from 1 again) would stop PostgreSQL from
 * starting, so it is removed here.
 */
export function findPostmaster(cluster: Cluster): Postmaster | undefined {
  const found = readLockFile(cluster);
  if (found === undefined || !isAlive(found.pid)) return undefined;
  if (isPostmasterOf(cluster, found)) return found;

  if (readLockFile(cluster)?.pid === found.pid && !isPostmasterOf(cluster, found)) {
    fs.rmSync(join(cluster.dir, 'postmaster.pid'), { force: true });
  }
  return undefined;
}

interface LockFile extends Postmaster {
  readonly dir: string;
}

/** Source: "postmaster.pid" in PostgreSQL's `src/include/utils/pidfile.h`: one value a line. */
function readLockFile(cluster: Cluster): LockFile | undefined {
  let lines: string[];
  try {
    lines = fs.readFileSync(join(cluster.dir, 'postmaster.pid'), 'utf8').split('\n');
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
  const pid = Number(lines[0]);
  if (!Number.isSafeInteger(pid) || pid <= 1) return undefined;
  return { pid, dir: lines[1] ?? '', port: Number(lines[3]), status: lines[7]?.trim() ?? 'starting' };
}

/** False for a zombie too: an ended process holds no files, even before it is reaped. */
function isPostmasterOf(cluster: Cluster, found: LockFile): boolean {
  try {
    if (process.platform === 'linux') {
      const seen = fs.statSync(`/proc/${found.pid}/cwd`);
      const own = fs.statSync(cluster.dir);
      return seen.ino === own.ino && seen.dev === own.dev;
    }
    return fs.realpathSync(found.dir) === cluster.dir;
  } catch {
    return false;
  }
}

export interface LaunchOptions {
  /** A free one by default. */
  readonly port?: number;
  /** Whether to listen on a Unix socket too, if the file system has them. */
  readonly mayHaveSocket?: boolean;
  /** Called when the server runs, before it accepts connections. */
  readonly whenLaunched?: (() => void) | undefined;
  /** Stops a server that does not accept connections yet. */
  readonly ending?: AbortSignal | undefined;
  /** How long it may recover. */
  readonly readyMsMax?: number;
}

/** A server of this process. */
export interface Launched extends Postmaster {
  /** The server goes on when this process exits. */
  readonly letGo: () => void;
}

/**
 * Start a server and wait until it accepts connections. Recovery after a crash may take a while.
 *
 * @returns undefined when another process started a server on this cluster first
 * @throws Error with the last line of PostgreSQL's output
 */
export async function startPostmaster(
  cluster: Cluster,
  {
    port,
    mayHaveSocket = process.platform !== 'win32',
    whenLaunched,
    ending,
    readyMsMax = RECOVERY_MS_MAX,
  }: LaunchOptions = {},
): Promise<Launched | undefined> {
  let hasSocket = mayHaveSocket;
  for (let tries = 1; ; tries += 1) {
    const place = { port: port ?? (await findFreePort('127.0.0.1')), hasSocket };
    const launching = launchPostmaster(cluster, place, readyMsMax, ending);
    whenLaunched?.();
    const outcome = await launching;
    if (typeof outcome !== 'string') {
      removeOldSockets(cluster, outcome.port);
      return outcome;
    }
    if (outcome.includes('lock file "postmaster.pid"') || outcome.includes('shared memory block'))
      return undefined;

    // Some file systems have no sockets, such as folders that a container shares with its host.
    if (hasSocket && outcome.includes('could not create any Unix-domain sockets')) {
      hasSocket = false;
      continue;
    }
    // Another process may take the free port before PostgreSQL binds it.
    const portTaken = outcome.includes('could not create any TCP/IP sockets');
    if (!portTaken || port !== undefined || tries === PORT_TRIES_MAX) {
      throw new Error(`The embedded PostgreSQL did not start: ${lastWords(outcome) ?? 'it left no message'}`);
    }
  }
}

/** The running server, or its output if it exited. */
async function launchPostmaster(
  cluster: Cluster,
  { port, hasSocket }: { readonly port: number; readonly hasSocket: boolean },
  readyMsMax: number,
  ending: AbortSignal | undefined,
): Promise<Launched | string> {
  ending?.throwIfAborted();
  const logFile = join(cluster.dataDir, 'postgres.log');
  const logFd = openLog(logFile);
  const { seenAs, ...options } = launch(cluster.program, cluster.dir);
  // A session of its own: Ctrl-C must not stop the database before the service has drained.
  const child = spawn(
    join(cluster.program.home, 'bin', 'postgres'),
    ['-D', seenAs, ...settings(port, hasSocket, cluster.durable).flatMap((setting) => ['-c', setting])],
    { ...options, detached: true, stdio: ['ignore', logFd, logFd] },
  );
  fs.closeSync(logFd);
  child.unref();
  const launched = { pid: child.pid ?? 0, port, status: 'starting' };
  const letGo = endWithProcess(cluster, launched);
  child.once('exit', letGo);

  let ended: string | undefined;
  child.once('error', (error) => {
    ended = error.message;
  });
  child.once('exit', (code, signal) => {
    ended = `postgres ended with ${signal ?? `exit code ${code}`}`;
  });
  const deadline = Date.now() + readyMsMax;
  while (ended === undefined) {
    const found = readLockFile(cluster);
    if (found !== undefined && found.pid === child.pid && found.status === 'ready')
      return { ...found, letGo };
    if (ending?.aborted) {
      await stopPostmaster(cluster, launched);
      ending.throwIfAborted();
    }
    if (Date.now() > deadline)
      throw new Error(
        `The embedded PostgreSQL is not ready after ${readyMsMax / 60_000} minutes: ${logFile}`,
      );
    await sleep(STEP_MS);
  }
  return readLogOf(logFile, child.pid) || ended;
}

/** Statement errors go to the client. Only server events are logged, so the log stays small. */
function settings(port: number, hasSocket: boolean, durable: boolean): string[] {
  // Several test files run at once, and each may start many services with a pool of their own. A client
  // hashes its password once for each iteration and connection.
  const careless = [
    ...['fsync=off', 'full_page_writes=off', 'autovacuum=off', 'max_connections=800'],
    'scram_iterations=1',
  ];
  return [
    'listen_addresses=127.0.0.1',
    `port=${port}`,
    // Inside the cluster's folder, which only its account can open.
    `unix_socket_directories=${hasSocket ? '.' : ''}`,
    'unix_socket_permissions=0700',
    'cluster_name=boxoffice',
    'max_connections=200',
    'shared_buffers=256MB',
    'wal_compression=pglz',
    'random_page_cost=1.1',
    'jit=off',
    'timezone=UTC',
    'log_timezone=UTC',
    'log_min_messages=log',
    'log_checkpoints=off',
    'log_autovacuum_min_duration=-1',
    'log_error_verbosity=terse',
    'log_line_prefix=%m [%p] ',
    ...(durable ? ['fsync=on', 'synchronous_commit=on', 'full_page_writes=on'] : careless),
  ];
}

/**
 * The folder of the server's Unix socket, which costs less than TCP; `undefined`: it can be reached by TCP only, because of the platform, the file system, or the length of the path.
 */
export function findSocketFolder({ dir }: Cluster, { port }: Postmaster): string | undefined {
  const socket = join(dir, socketName(port));
  return Buffer.byteLength(socket) <= SOCKET_PATH_BYTES_MAX && fs.existsSync(socket) ? dir : undefined;
}

/** Source: PostgreSQL manual, `unix_socket_directories`. */
function socketName(port: number): string {
  return `.s.PGSQL.${port}`;
}

/** Those of servers that were killed. Only one server at a time runs on a cluster. */
function removeOldSockets({ dir }: Cluster, port: number): void {
  const own = [socketName(port), `${socketName(port)}.lock`];
  for (const name of fs.readdirSync(dir)) {
    if (name.startsWith(socketName(0).slice(0, -1)) && !own.includes(name)) {
      fs.rmSync(join(dir, name), { force: true });
    }
  }
}

function openLog(path: string): number {
  const size = fs.statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  if (size > LOG_BYTES_MAX) fs.renameSync(path, `${path}.1`);
  return fs.openSync(path, 'a', 0o600);
}

/** The lines of a server that has ended. If they do not say why, also those between them, which its processes wrote. */
function readLogOf(path: string, pid: number | undefined): string {
  const lines = fs.readFileSync(path, 'utf8').split('\n');
  const isOwn = (line: string) => line.includes(`[${pid}]`);
  const own = lines.filter(isOwn);
  if (own.some(saysWhy)) return own.join('\n');
  return lines.slice(lines.findIndex(isOwn), lines.findLastIndex(isOwn) + 1).join('\n');
}

const saysWhy = (line: string) => /FATAL:|PANIC:/.test(line);

/** Ends the server at once if this process exits, until the returned function is called. */
export function endWithProcess(cluster: Cluster, postmaster: Postmaster): () => void {
  return atExit(() => {
    if (isServing(cluster, postmaster)) process.kill(postmaster.pid, 'SIGQUIT');
  });
}

/** Fast shutdown: ends sessions and writes a checkpoint. */
export async function stopPostmaster(cluster: Cluster, postmaster: Postmaster): Promise<void> {
  if (await endsAfter('SIGINT', FAST_SHUTDOWN_MS_MAX, cluster, postmaster)) return;
  await breakPostmaster(cluster, postmaster);
}

/** For a server that hangs. No committed data is lost; the next start recovers from the WAL. */
export async function breakPostmaster(cluster: Cluster, postmaster: Postmaster): Promise<void> {
  if (await endsAfter('SIGQUIT', IMMEDIATE_SHUTDOWN_MS_MAX, cluster, postmaster)) return;
  if (await endsAfter('SIGKILL', IMMEDIATE_SHUTDOWN_MS_MAX, cluster, postmaster)) return;
  throw new Error(`The embedded PostgreSQL (pid ${postmaster.pid}) does not end`);
}

async function endsAfter(
  signal: NodeJS.Signals,
  patienceMs: number,
  cluster: Cluster,
  postmaster: Postmaster,
): Promise<boolean> {
  const deadline = Date.now() + patienceMs;
  if (isServing(cluster, postmaster)) process.kill(postmaster.pid, signal);
  while (isServing(cluster, postmaster)) {
    if (Date.now() > deadline) return false;
    await sleep(STEP_MS);
  }
  return true;
}

function isServing(cluster: Cluster, postmaster: Postmaster): boolean {
  return (
    postmaster.pid > 0 &&
    isAlive(postmaster.pid) &&
    isPostmasterOf(cluster, { ...postmaster, dir: cluster.dir })
  );
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return codeOf(error) === 'EPERM';
  }
}

/** The line with the reason: the FATAL one if there is one, or else the last. */
function lastWords(text: string): string | undefined {
  const lines = text.trim().split('\n');
  const line = lines.findLast(saysWhy) ?? lines.at(-1);
  return line?.replace(/^.*\[\d+\] /, '') || undefined;
}
