/** `npm run faults` as a process of its own, when it cannot begin or does not come to its end. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { removeLeftBehind } from '../../faults/stage/left-behind.ts';
import { openScratch } from '../support/scratch.ts';

const MAIN = join(import.meta.dirname, '../../faults/main.ts');
/** Only root may mount a file system. */
const AS_ORDINARY_USER = ['--import', 'data:text/javascript,process.getuid = () => 65534'];

interface Running {
  readonly child: ChildProcess;
  stdout: string;
  stderr: string;
}

function start(args: readonly string[], ofNode: readonly string[] = []): Running {
  const child = spawn(process.execPath, [...ofNode, MAIN, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  const running: Running = { child, stdout: '', stderr: '' };
  child.stdout.on('data', (part) => {
    running.stdout += part;
  });
  child.stderr.on('data', (part) => {
    running.stderr += part;
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  return running;
}

async function exitCodeOf({ child }: Running): Promise<number | null> {
  const [code] = await once(child, 'close');
  return code;
}

function openReport(): string {
  const scratch = openScratch('boxoffice-faults-');
  onTestFinished(() => scratch.remove());
  return join(scratch.folder, 'report.md');
}

test('a control that this machine cannot show says in one line what is missing', async () => {
  const running = start(['--control', 'fsync-off'], AS_ORDINARY_USER);
  expect(await exitCodeOf(running)).toBe(2);
  expect(running.stderr.split('\n').filter((line) => line.startsWith('--control'))).toEqual([
    '--control fsync-off: only root may mount a file system',
  ]);
  expect(running.stdout).toBe('');
});

test('a campaign that is interrupted checks what there is, and says in its first line that it is not whole', {
  timeout: 900_000,
}, async () => {
  const file = openReport();
  const running = start(['--minutes', '60', '--seed', '1', '--tenants', '1', '--out', file]);
  await expect.poll(() => running.stderr, { timeout: 600_000 }).toMatch(/faults, \d+ s: [1-9]\d* answers/);
  expect(readFileSync(file, 'utf8')).toMatch(
    /^# Not finished: it is under way, or was killed\. Nothing was checked\n/,
  );
  running.child.kill('SIGTERM');
  await expect
    .poll(() => running.stderr, { interval: 10 })
    .toContain('SIGTERM: what there is will be checked');
  // `timeout` and npm tell a process, and its group.
  running.child.kill('SIGTERM');
  expect(await exitCodeOf(running), running.stderr.slice(-500)).toBe(3);
  expect(running.stdout).toMatch(
    /^# Not finished: ended by SIGTERM after \d+ of 3600 s\. (Nothing is wrong|Something is wrong|Too little was shown)/,
  );
  expect(running.stdout).toMatch(
    /\nVersion \S+( \(\S+\))?, Node\.js 24\.\S+, PostgreSQL \d+\S*, .*, \d+ cores\.\n/,
  );
  expect(readFileSync(file, 'utf8')).toBe(running.stdout.trimEnd());
});

/** What a running campaign has noted of itself. */
function readNoted({ child }: Running): { processes: [number, string][]; folders: string[] } | undefined {
  return globSync(join(tmpdir(), 'boxoffice-faults-*/run.json'))
    .map((file) => JSON.parse(readFileSync(file, 'utf8')))
    .find(({ campaign: [pid] }) => pid === child.pid);
}

const isRunning = (pid: number) =>
  existsSync(`/proc/${pid}`) && !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));

test.skipIf(!existsSync('/proc/self/stat'))(
  'what a killed campaign leaves behind is removed',
  {
    timeout: 900_000,
  },
  async () => {
    const running = start(['--minutes', '60', '--seed', '2', '--tenants', '1']);
    await expect.poll(() => running.stderr, { timeout: 600_000 }).toMatch(/faults, \d+ s: [1-9]\d* answers/);
    const { processes, folders } = readNoted(running)!;
    // PostgreSQL, two services and three workers, at the least.
    expect(processes.length).toBeGreaterThan(6);
    // A process that stands still cannot end by itself.
    for (const [pid] of processes.slice(-1)) process.kill(pid, 'SIGSTOP');
    running.child.kill('SIGKILL');
    await exitCodeOf(running);
    removeLeftBehind();
    await expect.poll(() => processes.map(([pid]) => pid).filter(isRunning)).toEqual([]);
    expect(folders.filter((folder) => existsSync(folder))).toEqual([]);
    const mounts = readFileSync('/proc/self/mountinfo', 'utf8');
    expect(folders.filter((folder) => mounts.includes(folder))).toEqual([]);
  },
);
