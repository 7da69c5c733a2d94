/** The options of a campaign: which there are, and which cannot be used. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { HELP, OPTIONS, readOptions } from '../../faults/options.ts';

const PAGE = readFileSync(join(import.meta.dirname, '../../docs/testing.md'), 'utf8');

test('docs/testing.md and the help have each option', () => {
  const [, section = ''] = PAGE.split('\n## Faults\n');
  const rows = [...section.split('\n## ')[0]!.matchAll(/^\| `--(\w+)/gm)].map(([, name]) => name);
  expect(rows).toEqual(Object.keys(OPTIONS));
  for (const name of rows) expect(HELP).toContain(`  --${name} `);
});

test('what is not said is the default, and that of the control', () => {
  expect(readOptions(['--seed', '3'])).toMatchObject({ seed: 3, minutes: 5, tenants: 6, control: undefined });
  expect(readOptions(['--control', 'lost-carry'])).toMatchObject({ minutes: 0.75 });
});

test.each([
  [['--minutes', '0'], '--minutes: a number'],
  [['--seed', '-1'], '--seed'],
  [['--tenants', '1.5'], '--tenants: a whole number'],
  [['--control', 'none'], 'there is no control none'],
  [['--out', '/nowhere/report.md'], '--out: there is no folder /nowhere'],
  [['--keep', import.meta.dirname], 'exists already'],
  [['--hours', '1'], "Unknown option '--hours'"],
  [['5'], 'Unexpected argument'],
])('%j is refused', (args, words) => {
  expect(() => readOptions(args)).toThrow(words);
});
