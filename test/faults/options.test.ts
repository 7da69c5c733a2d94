/** The options of a campaign: which there are, and which cannot be used. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { EXIT_CODES, HELP, OPTIONS, Refusal, readOptions } from '../../faults/options.ts';
import { openScratch } from '../support/scratch.ts';

const PAGE = readFileSync(join(import.meta.dirname, '../../docs/testing.md'), 'utf8');
const [, SECTION = ''] = PAGE.split('\n## Faults\n');

/** The first cells of the rows of its tables. */
const cellsOf = (pattern: RegExp) =>
  [...SECTION.split('\n## ')[0]!.matchAll(pattern)].map(([, name]) => name!);

test('docs/testing.md and the help have each option and each exit code', () => {
  const options = cellsOf(/^\| `--(\w+)/gm);
  expect(options).toEqual(Object.keys(OPTIONS));
  for (const name of options) expect(HELP).toContain(`  --${name} `);
  const codes = cellsOf(/^\| (\d) /gm);
  expect(codes).toEqual(EXIT_CODES.map((_, code) => `${code}`));
  for (const code of codes) expect(HELP).toContain(`\n  ${code}  ${EXIT_CODES[Number(code)]}\n`);
});

test('what is not said is the default, and that of the control', () => {
  const defaults = { command: 'run', seed: 3, minutes: 5, tenants: 6, control: undefined };
  expect(readOptions(['--seed', '3'])).toMatchObject(defaults);
  expect(readOptions(['--control', 'lost-carry'])).toMatchObject({ minutes: 0.75 });
  expect(readOptions(['--controls', '--seed', '3'])).toEqual({
    ...{ command: 'controls', out: undefined },
    args: ['--seed', '3', '--tenants', '6'],
  });
});

test.each([
  [['--minutes', '0'], '--minutes: a number'],
  [['--minutes', 'NaN'], '--minutes: a number'],
  [['--minutes', '-1'], '--minutes: a number'],
  [['--minutes='], '--minutes: a value is missing'],
  [['--seed', '-1'], '--seed: a whole number'],
  [['--seed', '4294967296'], '--seed: a whole number'],
  [['--tenants', '0'], '--tenants: a whole number'],
  [['--tenants', '1.5'], '--tenants: a whole number'],
  [['--tenants', '101'], '--tenants: a whole number from 1 to 100'],
  [['--control', 'none'], 'there is no control none'],
  [['--control'], "Option '--control <value>' argument missing"],
  [['--out', '/nowhere/report.md'], '--out: there is no folder /nowhere'],
  [['--out', import.meta.dirname], 'is a folder'],
  [['--keep', import.meta.dirname], 'exists already'],
  [['--keep', '/nowhere/kept'], '--keep: there is no folder /nowhere'],
  [['--keep', join(import.meta.filename, 'kept')], '--keep: there is no folder'],
  [['--check', '/nowhere/kept'], '--check: there is no folder /nowhere/kept'],
  [['--check', import.meta.dirname], 'has no report.json'],
  [['--check', import.meta.dirname, '--seed', '1'], '--seed does not fit with --check'],
  [['--controls', '--check', '/nowhere'], 'does not fit with'],
  [['--controls', '--keep', '/tmp/kept'], '--keep does not fit with --controls'],
  [['--hours', '1'], "Unknown option '--hours'"],
  [['5'], 'Unexpected argument'],
])('%j is refused in one line', (args, words) => {
  const refusal = () => readOptions(args);
  expect(refusal).toThrow(Refusal);
  expect(refusal).toThrow(words);
  expect(refusal).not.toThrow('\n');
});

test.skipIf(process.getuid?.() === 0)('a folder that cannot be written is refused', () => {
  expect(() => readOptions(['--keep', '/kept'])).toThrow('--keep: / cannot be written');
  expect(() => readOptions(['--out', '/report.md'])).toThrow('--out: / cannot be written');
});

test('a kept campaign can be checked', () => {
  const scratch = openScratch('boxoffice-kept-');
  onTestFinished(() => scratch.remove());
  mkdirSync(join(scratch.folder, 'data'));
  for (const name of ['report.json', 'keys.json', 'journal.jsonl'])
    writeFileSync(join(scratch.folder, name), '');
  const checks = { command: 'check', folder: scratch.folder };
  expect(readOptions(['--check', scratch.folder, '--out', join(scratch.folder, 'a.md')])).toMatchObject(
    checks,
  );
});
