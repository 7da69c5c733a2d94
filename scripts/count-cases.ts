/**
 * `npm run cases`: counts the cases that docs/tried.md says were tried against each door. Fails if a figure is more than there
 * are, or much less.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { type Cases, countCases, findStale, readCounted } from '../test/support/counted-cases.ts';
import { openScratch } from '../test/support/scratch.ts';

const ROOT = join(import.meta.dirname, '..');
process.chdir(ROOT);

/** Loads the test files, and runs no test. */
function listCases(paths: readonly string[]): Cases {
  const scratch = openScratch('boxoffice-cases-');
  try {
    const list = join(scratch.folder, 'cases.json');
    const options = ['--staticParse=false', '--project', 'one server', `--json=${list}`];
    execFileSync('node_modules/.bin/vitest', ['list', ...options, ...paths], {
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    const cases = JSON.parse(readFileSync(list, 'utf8')) as readonly { readonly file: string }[];
    const byFile = Map.groupBy(cases, ({ file }) => relative(ROOT, file));
    return new Map([...byFile].map(([file, own]) => [file, own.length]));
  } finally {
    scratch.remove();
  }
}

const rows = readCounted();
const cases = listCases(rows.flatMap(({ paths }) => paths));
console.table(
  rows.map((row) => ({
    door: row.door,
    'at least': row.atLeast,
    cases: countCases(row, cases) ?? 'not all files can be loaded here',
  })),
);
const stale = findStale(rows, cases);
for (const line of stale) console.log(line);
process.exitCode = stale.length > 0 ? 1 : 0;
