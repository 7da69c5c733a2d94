import { spawn } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { openDisk } from '../../faults/stage/disk.ts';

test('without room for a file system of its own, it is a folder that cannot be full, and says why', async () => {
  const disk = await openDisk(2 ** 60);
  onTestFinished(() => disk.remove());
  expect(disk.limits).toBe('there is no room of 1073741824 GiB for a file system of its own');
  await expect(disk.fill()).rejects.toThrow(disk.limits);
  await disk.sync();
});

test('after a loss of power it has what was synced, though another program keeps the mount of before', async ({
  skip,
}) => {
  const disk = await openDisk();
  onTestFinished(() => disk.remove());
  if (disk.limits !== undefined) return skip(disk.limits);
  const [synced, lost] = ['synced', 'lost'].map((name) => join(disk.folder, name)) as [string, string];
  writeFileSync(synced, 'yes');
  await disk.sync();
  const other = spawn('unshare', ['--mount', 'cat'], { stdio: ['pipe', 'pipe', 'inherit'] });
  onTestFinished(() => void other.kill());
  other.stdin.write('ready');
  await new Promise((resolve) => other.stdout.once('data', resolve));
  writeFileSync(lost, 'no');
  await disk.losePower();
  await disk.mountAgain();
  expect(readFileSync(synced, 'utf8')).toBe('yes');
  expect(existsSync(lost)).toBe(false);
  writeFileSync(lost, 'written again');
});
