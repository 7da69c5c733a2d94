import { mkdtempSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, inject, test, vi } from 'vitest';
import { runPostgres } from '../../../src/run/recovery/postgres-programs.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(inject('scratch'), 'programs-'));
  vi.stubEnv('PATH', `${folder}:${process.env.PATH}`);
});
afterEach(() => vi.unstubAllEnvs());

/** What is said of a program that fails. */
function failure(script: string, url?: string): Promise<string> {
  writeFileSync(join(folder, 'pg_of_tests'), `#!/bin/sh\n${script}\nexit 1\n`, { mode: 0o755 });
  const { signal } = new AbortController();
  return runPostgres('pg_of_tests', [], { ...(url !== undefined && { url }), ending: signal }).then(
    () => 'it succeeds',
    ({ message }) => message,
  );
}

describe('the password of an address', () => {
  const heard = (url: string) => failure('echo "$PGPASSWORD at $*" >&2', url);

  test.each([
    ['before the host', 'postgres://ada:p%40ss@db.internal/boxoffice', ''],
    ['in its query', 'postgres://ada@db.internal/boxoffice?password=p%40ss', ''],
    ['in both', 'postgres://ada:other@db.internal/boxoffice?password=p%40ss', ''],
    [
      'beside options',
      'postgres://ada@db.internal/boxoffice?options=-c%20jit%3Doff&password=p%40ss&sslmode=require',
      '?options=-c%20jit%3Doff&sslmode=require',
    ],
    [
      'beside that of a key',
      'postgres://ada:p%40ss@db.internal/boxoffice?sslkey=a.key&sslpassword=s3cret',
      '?sslkey=a.key',
    ],
  ])('is no argument when it stands %s', async (_, url, query) => {
    expect(await heard(url)).toBe(`p@ss at --dbname=postgres://ada@db.internal/boxoffice${query}`);
  });
});

describe('a program that fails', () => {
  const MUCH = 'head -c 100000 /dev/zero | tr "\\0" x >&2; echo >&2';

  test.each([
    ['its first error', 'echo "a: error: first" >&2; echo "a: error: second" >&2', 'a: error: first'],
    ['its last line', 'echo first >&2; echo last >&2', 'last'],
    ['its code', '', 'pg_of_tests ended with 1'],
    ['an error after much else', `${MUCH}; echo "a: error: late" >&2`, 'a: error: late'],
    ['its code, if its error is lost', `echo "a: error: x" >&2; ${MUCH}`, 'pg_of_tests ended with 1'],
  ])('is said by %s', async (_, script, message) => {
    expect(await failure(script)).toBe(message);
  });
});
