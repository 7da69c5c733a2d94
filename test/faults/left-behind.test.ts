/** What a campaign has noted of itself, and what the next one makes of it. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { openDisk } from '../../faults/stage/disk.ts';
import { removeLeftBehind } from '../../faults/stage/left-behind.ts';
import { openScratch } from '../support/scratch.ts';

const isLinux = existsSync('/proc/self/ns/pid');
const isRoot = process.getuid?.() === 0;

let parent: string;
beforeEach(() => {
  const scratch = openScratch('boxoffice-left-');
  parent = scratch.folder;
  onTestFinished(() => scratch.remove());
});

/** The time of its start. Source: proc_pid_stat(5). */
function startOf(pid: number): string {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]!;
}

/** A process, and one that it has started. */
async function startTwo(): Promise<{ child: ChildProcess; pid: number; inner: number }> {
  const child = spawn('sh', ['-c', 'sleep 600 & echo $!; wait'], { stdio: ['ignore', 'pipe', 'ignore'] });
  const [text] = await once(child.stdout!, 'data');
  const inner = Number(String(text));
  onTestFinished(() => {
    child.kill('SIGKILL');
    if (existsSync(`/proc/${inner}`)) process.kill(inner, 'SIGKILL');
  });
  return { child, pid: child.pid!, inner };
}

function makeFolder(prefix: string): string {
  const folder = mkdtempSync(join(tmpdir(), prefix));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(join(folder, 'file'), '');
  return folder;
}

/** As a campaign that has gone has noted it. Returns its file. */
function note(rest: object): string {
  const home = join(parent, 'boxoffice-faults-1');
  mkdirSync(home);
  const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  const space = execFileSync('readlink', ['/proc/self/ns/pid'], { encoding: 'utf8' }).trim();
  const gone = { boot, space, campaign: [process.pid, '1'], processes: [], folders: [] };
  writeFileSync(join(home, 'run.json'), JSON.stringify({ ...gone, ...rest }));
  return join(home, 'run.json');
}

describe.skipIf(!isLinux)('of a campaign that has gone,', () => {
  test('a process that stands still ends, with what it has started, and its folder goes', async () => {
    const { child, pid, inner } = await startTwo();
    const folder = makeFolder('boxoffice-faults-');
    child.kill('SIGSTOP');
    const file = note({ processes: [[pid, startOf(pid)]], folders: [folder] });
    const exit = once(child, 'exit');
    expect(removeLeftBehind(parent)).toBe(1);
    expect((await exit)[1]).toBe('SIGKILL');
    await expect.poll(() => existsSync(`/proc/${inner}`) && startOf(inner)).toBe(false);
    expect([folder, dirname(file)].filter((path) => existsSync(path))).toEqual([]);
    expect(removeLeftBehind(parent)).toBe(0);
  });

  test('a process that has got its id later goes on, and so does a folder of another name', async () => {
    const { child, pid } = await startTwo();
    const folder = makeFolder('boxoffice-other-');
    note({ processes: [[pid, '1']], folders: [folder, join(folder, '..', 'boxoffice-faults-..')] });
    expect(removeLeftBehind(parent)).toBe(1);
    expect([child.exitCode, child.signalCode, existsSync(`/proc/${pid}`)]).toEqual([null, null, true]);
    expect(existsSync(join(folder, 'file'))).toBe(true);
  });

  test('no process is ended after the machine has started again', async () => {
    const { child, pid } = await startTwo();
    const folder = makeFolder('boxoffice-faults-');
    note({ boot: 'another', processes: [[pid, startOf(pid)]], folders: [folder] });
    expect(removeLeftBehind(parent)).toBe(1);
    expect([child.signalCode, existsSync(folder)]).toEqual([null, false]);
  });

  test('a mounted disk and its device go', async ({ skip }) => {
    const disk = await openDisk();
    onTestFinished(() => disk.remove());
    if (disk.limits !== undefined) return skip(disk.limits);
    const folder = dirname(disk.folder);
    note({ folders: [folder] });
    removeLeftBehind(parent);
    expect(existsSync(folder)).toBe(false);
    expect(readFileSync('/proc/self/mountinfo', 'utf8')).not.toContain(folder);
    expect(execFileSync('losetup', ['--all'], { encoding: 'utf8' })).not.toContain(folder);
  });
});

describe.skipIf(!isLinux)('nothing is removed of', () => {
  test.each([
    ['a campaign that runs', () => ({ campaign: [process.pid, startOf(process.pid)] })],
    ['a campaign in another container', () => ({ space: 'pid:[1]' })],
  ])('%s', (_, rest) => {
    const folder = makeFolder('boxoffice-faults-');
    const file = note({ ...rest(), folders: [folder] });
    expect(removeLeftBehind(parent)).toBe(0);
    expect([folder, file].every((path) => existsSync(path))).toBe(true);
  });

  test.skipIf(!isRoot)('what another user has noted', () => {
    const folder = makeFolder('boxoffice-faults-');
    chownSync(note({ folders: [folder] }), 65534, 65534);
    expect(removeLeftBehind(parent)).toBe(0);
    expect(existsSync(folder)).toBe(true);
  });

  test('a file that was not written to its end', () => {
    writeFileSync(note({}), '{"boot":');
    expect(removeLeftBehind(parent)).toBe(0);
  });
});
