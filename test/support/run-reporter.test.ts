/** What a run says at its end and on its way, read from the output of a run. */
import { execFile } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, inject, test } from 'vitest';

const HERE = import.meta.dirname;
const VITEST = join(HERE, '../../node_modules/.bin/vitest');
const REPORTER = join(HERE, 'run-reporter.ts');

const TESTS = `
import { describe, test } from 'vitest';
import { setTimeout as sleep } from 'node:timers/promises';
describe('a group', () => {
  test('that passes', () => sleep(300));
  test('that fails', () => { throw new Error('no'); });
  test.skip('left out', () => {});
});`;

/** `some.spec.ts` has three. Of `other.spec.ts`, nothing is known. */
const PAGE = `
| Door | Tried | Cases, at least | Tests |
| ---- | ----- | --------------: | ----- |
| the front door | keys | 4 | \`some.spec.ts\` |
| the back door | hammers | 3 | \`some.spec.ts\` |
| the cellar | drills | 2 | \`some.spec.ts\` |
| the roof | ladders | 1,000 | \`some.spec.ts\`, \`other.spec.ts\` |
`;

const CONFIG = `
import { RunReporter } from '${REPORTER}';
const reporter = new RunReporter({ quietMs: 100, page: 'page.md' });
export default { test: { include: ['*.spec.ts'], reporters: ['default', reporter] } };`;

function run(folder: string): Promise<string[]> {
  // Without CITUS_URL and what tells vitest that it runs inside of another.
  const { PATH, HOME } = process.env;
  return new Promise((resolve) => {
    execFile(VITEST, ['run', '--root', folder], { cwd: folder, env: { PATH, HOME } }, (_error, stdout) =>
      resolve(stdout.trimEnd().split('\n')),
    );
  });
}

test('a run names what fails, is left out or goes on', async () => {
  const folder = mkdtempSync(join(inject('scratch'), 'run-'));
  writeFileSync(join(folder, 'some.spec.ts'), TESTS);
  writeFileSync(join(folder, 'broken.spec.ts'), "throw new Error('does not load');");
  writeFileSync(join(folder, 'vitest.config.ts'), CONFIG);
  writeFileSync(join(folder, 'page.md'), PAGE);
  const lines = await run(folder);

  expect(lines.at(-1)).toBe('1 passed, 4 failed, 1 skipped');
  expect(lines.filter((line) => line.startsWith('failed: ')).toSorted()).toEqual([
    'failed: broken.spec.ts',
    'failed: docs/tried.md says at least 2 cases of the cellar: say 3',
    'failed: docs/tried.md says at least 4 cases of the front door: say 3',
    'failed: some.spec.ts > a group > that fails',
  ]);
  expect(lines).toContain('skipped: 1 in some.spec.ts');
  expect(lines).toContain(
    'left out: the tests of a cluster, without a cluster. To run them: CITUS_URL=postgres://... npm test',
  );
  expect(lines.join('\n')).toMatch(/ \d s: \d of 2 files, now \S+\.spec\.ts/);
});
