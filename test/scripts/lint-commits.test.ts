import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { findLongSubjects, readSubjects } from '../../scripts/lint-commits.ts';

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'lint-commits-'));
});

afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true });
});

function commit(subject: string, date: string, repository = folder): void {
  const env = { ...process.env, GIT_AUTHOR_DATE: date, GIT_COMMITTER_DATE: date };
  const author = ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.com', '-c', 'commit.gpgsign=false'];
  execFileSync('git', [...author, 'commit', '--quiet', '--allow-empty', '-m', subject], {
    cwd: repository,
    env,
  });
}

test('a subject has at most 72 characters', () => {
  expect(findLongSubjects(['é'.repeat(72), 'a'.repeat(73)])).toEqual(['a'.repeat(73)]);
});

test('commits before the rule are not read', () => {
  execFileSync('git', ['init', '--quiet'], { cwd: folder });
  commit('old', '2026-11-23T23:59:59Z');
  commit('new', '2026-11-24T00:00:00Z');
  commit('newer\n\nwhy', '2026-12-01T00:00:00Z');
  expect(readSubjects(folder)).toEqual(['newer', 'new']);
});

test('a shallow clone has some of them', () => {
  const [all, clone] = [join(folder, 'all'), join(folder, 'clone')];
  execFileSync('git', ['init', '--quiet', all]);
  commit('one', '2026-12-01T00:00:00Z', all);
  commit('two', '2026-12-02T00:00:00Z', all);
  execFileSync('git', ['clone', '--quiet', '--depth=1', `file://${all}`, clone]);
  expect(readSubjects(clone)).toEqual(['two']);
});

test('there are none in a copy that is no repository, or on a machine without git', () => {
  vi.stubEnv('GIT_CEILING_DIRECTORIES', tmpdir());
  expect(readSubjects(folder)).toEqual([]);
  vi.stubEnv('PATH', folder);
  expect(readSubjects(process.cwd())).toEqual([]);
});
