import { expect, onTestFinished, test } from 'vitest';
import { openDisk } from '../../faults/stage/disk.ts';

test('without room for a file system of its own, it is a folder that cannot be full, and says why', async () => {
  const disk = await openDisk(2 ** 60);
  onTestFinished(() => disk.remove());
  expect(disk.limits).toBe('there is no room of 1073741824 GiB for a file system of its own');
  await expect(disk.fill()).rejects.toThrow(disk.limits);
  await disk.sync();
});
