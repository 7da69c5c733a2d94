import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { keepFile } from '../../../src/base/lib/keep-file.ts';

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'boxoffice-kept-'));
});
afterAll(() => rm(folder, { recursive: true }));

test('is created once, with its folder, readable only by its owner, without leftovers', async () => {
  const path = join(folder, 'new', 'secret');
  expect(keepFile(path, () => 'first')).toBe('first');
  expect(keepFile(path, () => 'second')).toBe('first');
  expect((await stat(path)).mode & 0o777).toBe(0o600);
  expect((await stat(join(folder, 'new'))).mode & 0o777).toBe(0o700);
  expect(await readdir(join(folder, 'new'))).toEqual(['secret']);
});

test('keeps the file that another process created meanwhile', async () => {
  const path = join(folder, 'raced', 'secret');
  const text = keepFile(path, () => {
    keepFile(path, () => 'theirs');
    return 'ours';
  });
  expect(text).toBe('theirs');
  expect(await readdir(join(folder, 'raced'))).toEqual(['secret']);
});

test('does not exist after a failure, and is created the next time', async () => {
  const path = join(folder, 'failed', 'secret');
  const fail = () => {
    throw new Error('no more random numbers');
  };
  expect(() => keepFile(path, fail)).toThrow('no more random numbers');
  expect(await readdir(join(folder, 'failed'))).toEqual([]);
  expect(keepFile(path, () => 'whole')).toBe('whole');
});

test('is complete, even if a process died while writing it', async () => {
  const path = join(folder, 'secret');
  await writeFile(`${path}.0123456789abcdef`, 'ha');
  expect(keepFile(path, () => 'whole')).toBe('whole');
  expect(await readFile(path, 'utf8')).toBe('whole');
});
