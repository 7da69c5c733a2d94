/** A short campaign: most of what it covers has tests of its own, but here everything fails at once. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const MAIN = join(import.meta.dirname, '../../faults/main.ts');
const ARGUMENTS = ['--minutes', '1', '--seed', '1', '--tenants', '2'];

test('a minute of faults leaves nothing lost, doubled or misstated', { timeout: 900_000 }, async () => {
  const { code, report } = await new Promise<{ code: number; report: string }>((resolve) => {
    const child = execFile(
      process.execPath,
      [MAIN, ...ARGUMENTS],
      { maxBuffer: 2 ** 26 },
      (_, stdout, stderr) => {
        resolve({ code: child.exitCode ?? 1, report: stdout || stderr });
      },
    );
  });
  expect(code, report).toBe(0);
});
