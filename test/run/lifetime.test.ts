/** A start that is told to end at any moment leaves no process behind, says so truthfully, and hinders no later start. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import * as fs from 'node:fs';
import { constants } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeAll, describe, expect, inject, onTestFinished, test, vi } from 'vitest';
import { MACHINE } from '../support/environment.ts';

const MAIN = fileURLToPath(new URL('../../src/run/main.ts', import.meta.url));
const ENV = { PORT: '0', OPS_PORT: '0', GRPC_PORT: '0', SANDBOX_PORT: '0', PAYMENTS: 'none' };
/** Between two looks at what a start has come to. */
const LOOK_MS = 2;

type End = 'SIGINT to the group' | 'SIGTERM' | 'SIGHUP' | 'SIGKILL of npm';
const ENDS: readonly End[] = ['SIGINT to the group', 'SIGTERM', 'SIGHUP', 'SIGKILL of npm'];

const folders: string[] = [];
const groups: ChildProcess[] = [];

afterEach(() => {
  for (const { pid, exitCode, signalCode } of groups.splice(0)) {
    if (exitCode === null && signalCode === null) process.kill(-pid!, 'SIGKILL');
  }
  for (const folder of folders.splice(0)) {
    for (const pid of processesOf(folder)) process.kill(pid, 'SIGKILL');
    fs.rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 });
  }
});

function newFolder(): string {
  const folder = fs.realpathSync(fs.mkdtempSync(join(inject('scratch'), 'lifetime-')));
  folders.push(folder);
  return folder;
}

/** PostgreSQL and its tools work in the folder. */
function processesOf(folder: string): number[] {
  return fs.readdirSync('/proc').flatMap((name) => {
    const pid = Number(name);
    if (!Number.isInteger(pid) || pid === process.pid) return [];
    try {
      return fs.readlinkSync(`/proc/${pid}/cwd`).startsWith(`${folder}/`) ? [pid] : [];
    } catch {
      return [];
    }
  });
}

interface Start {
  readonly folder: string;
  /** Leads a group; the parent of the service, as npm is. */
  readonly npm: ChildProcess;
  readonly pid: number;
  readonly said: () => string;
  readonly exitCode: Promise<number | null>;
  /** Everything that was said has arrived. */
  readonly closed: Promise<unknown>;
}

/** A shell in npm's place, which tells the pid of the service, and ends with its exit code. */
async function start(folder: string, env: Record<string, string> = {}): Promise<Start> {
  const script = `trap '' INT; "$@" --parent=$$ & echo $!; wait $!`;
  const npm = spawn('sh', ['-c', script, 'sh', process.execPath, MAIN], {
    env: { ...MACHINE, ...ENV, DATA_DIR: folder, ...env },
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  groups.push(npm);
  let said = '';
  for (const stream of [npm.stdout, npm.stderr]) stream.on('data', (part) => (said += part));
  const exitCode = once(npm, 'exit').then(([code]) => code);
  const closed = once(npm, 'close');
  await vi.waitFor(() => expect(said).toMatch(/^\d+\n/), { timeout: 60_000, interval: LOOK_MS });
  const pid = Number.parseInt(said, 10);
  // A shell starts what runs beside it with SIGINT ignored, which Node takes back.
  await vi.waitFor(() => expect(ignoresInterrupts(pid)).toBe(false), { timeout: 60_000, interval: LOOK_MS });
  return { folder, npm, pid, said: () => said, exitCode, closed };
}

/** Source: proc_pid_status(5), a mask in which signal n is bit n - 1. */
function ignoresInterrupts(pid: number): boolean {
  const mask = /^SigIgn:\s+([0-9a-f]+)$/m.exec(fs.readFileSync(`/proc/${pid}/status`, 'utf8'))![1]!;
  return (BigInt(`0x${mask}`) & (1n << BigInt(constants.signals.SIGINT - 1))) !== 0n;
}

function isAlive(pid: number): boolean {
  try {
    return !/^State:\s+Z/m.test(fs.readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}

function send(end: End, { npm, pid }: Start): void {
  if (end === 'SIGINT to the group') process.kill(-npm.pid!, 'SIGINT');
  else if (end === 'SIGKILL of npm') npm.kill('SIGKILL');
  else process.kill(pid, end);
}

const CODES = { 'SIGINT to the group': 'SIGINT', SIGTERM: 'SIGTERM', SIGHUP: 'SIGHUP' } as const;

const hasStarted = ({ said }: Start) => said().includes('"msg":"started"');

/** What a start has come to: files that it made, or processes of its PostgreSQL. */
type Moment = (start: Start) => boolean;

const whenFiles =
  (count: number): Moment =>
  ({ folder }) => {
    try {
      return fs.readdirSync(folder, { recursive: true }).length >= count;
    } catch {
      // A file went away meanwhile.
      return false;
    }
  };

const whenProcesses =
  (count: number): Moment =>
  ({ folder }) =>
    processesOf(folder).length >= count;

/** Waits for the moment, or the end of the start, sends the signal, and looks at what is left. */
async function endAt(started: Start, moment: Moment, end: End): Promise<void> {
  const { folder, pid, said, exitCode, closed } = started;
  while (!moment(started) && !hasStarted(started)) {
    expect(isAlive(pid), said()).toBe(true);
    await wait(LOOK_MS);
  }
  const isServing = hasStarted(started);
  send(end, started);
  const code = await exitCode;
  await expect.poll(() => (isAlive(pid) ? said() : 'ended')).toBe('ended');
  await expect.poll(() => processesOf(folder)).toEqual([]);
  await closed;
  expect(fs.existsSync(join(folder, 'postgres/postmaster.pid'))).toBe(false);
  expect(fs.readdirSync(folder).filter((name) => name.includes('.new-'))).toEqual([]);
  const hadHandlers = said().includes('"msg":"stopping"');
  if (end !== 'SIGKILL of npm') {
    const byNumber = 128 + constants.signals[CODES[end]];
    // It may have begun to serve just before the signal.
    expect(isServing ? [0] : hasStarted(started) ? [0, byNumber] : [byNumber], said()).toContain(code);
  }
  expect(said().includes('"msg":"stopped"'), said()).toBe(hadHandlers);
  expect(said()).not.toMatch(/Error|"level":"(error|fatal)"/);
}

const rowsOf = (moments: readonly Moment[]) =>
  moments.map((moment, index) => [index + 1, ENDS[index % ENDS.length]!, moment] as const);

describe.skipIf(process.platform !== 'linux')('a start', () => {
  describe('that creates the database', () => {
    // 1,000 files are initdb's, and 1,300 those of the databases of a cluster.
    const moments = [
      ...[0, 1, 2, 3, 5, 20, 40, 100, 200, 300, 400, 600, 800, 960, 980, 1_000, 1_200, 1_350, 1_500].map(
        whenFiles,
      ),
      hasStarted,
    ];
    test.each(rowsOf(moments))('ends at moment %i by %s', async (_, end, moment) => {
      const folder = newFolder();
      await endAt(await start(folder), moment, end);
    });
  });

  describe('on a database that is there', () => {
    const folder = join(inject('scratch'), 'lifetime-shared');
    beforeAll(async () => {
      fs.mkdirSync(folder, { recursive: true });
      const first = await start(folder);
      await vi.waitFor(() => expect(hasStarted(first)).toBe(true), { timeout: 60_000 });
      send('SIGTERM', first);
      expect(await first.exitCode).toBe(0);
    }, 90_000);
    // What a failed test has left, so that it fails alone.
    afterEach(() => {
      for (const pid of processesOf(folder)) process.kill(pid, 'SIGKILL');
    });

    const moments = [...Array.from({ length: 19 }, (_, count) => whenProcesses(count)), hasStarted];
    test.each(rowsOf(moments))('ends at moment %i by %s', async (_, end, moment) => {
      await endAt(await start(folder), moment, end);
    });
  });
});

/** Runs a program that ends itself within 0.2 and 0.5 seconds, while `close` goes on. */
async function endWith(close: string): Promise<[number | null, NodeJS.Signals | null]> {
  const lifetime = new URL('../../src/run/lifetime.ts', import.meta.url).href;
  const program = `
    import { endProcess, Opened } from ${JSON.stringify(lifetime)};
    const opened = new Opened();
    opened.add(async () => { ${close} });
    const log = { info() {}, error() {} };
    await endProcess(opened, log, 7, { stopMs: 200, killMs: 500 });`;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', program], { env: MACHINE });
  onTestFinished(() => void child.kill('SIGKILL'));
  const [code, signal] = await once(child, 'exit');
  return [code, signal];
}

test('a process that closes what it opened ends with its exit code', async () => {
  expect(await endWith('')).toEqual([7, null]);
});

test('a process whose closing does not end exits by itself', async () => {
  expect(await endWith('setInterval(() => {}, 1_000); await new Promise(() => {});')).toEqual([1, null]);
});

test('a process whose event loop hangs is killed', async () => {
  expect(await endWith('Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);')).toEqual([
    null,
    'SIGKILL',
  ]);
});
