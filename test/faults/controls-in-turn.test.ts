/** What trying all controls comes to. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { CONTROLS } from '../../faults/controls.ts';
import { exitCodeOfAll, renderTried, type Tried } from '../../faults/controls-in-turn.ts';

const PAGE = readFileSync(join(import.meta.dirname, '../../docs/campaign.md'), 'utf8');
const FOUND = { code: 0, tookSeconds: 171, cutShort: undefined };
const all = (last: Partial<Tried> = {}): Tried[] =>
  CONTROLS.map((control, at) => ({ control, ...FOUND, ...(at === CONTROLS.length - 1 && last) }));

test.each([
  ['all were found', all(), 0],
  ['one was not found', all({ code: 1 }), 1],
  [
    'one was not found, and another one not tried',
    all({ code: 1 }).toSpliced(0, 1, { ...all()[0]!, code: 2 }),
    1,
  ],
  ['one cannot be shown here', all({ code: 2 }), 3],
  ['one was killed', all({ code: null }), 3],
  ['it was interrupted', all().slice(1), 3],
])('if %s, it ends with its exit code', (_, tried, code) => {
  expect(exitCodeOfAll(tried)).toBe(code);
});

test('the table is that of docs/campaign.md, and says of each control what became of it', () => {
  const [head, , ...rows] = renderTried(
    all({ code: 2, cutShort: 'only root may mount a file system' }),
  ).split('\n');
  const withoutSpaces = (line: string) => line.replaceAll(/ +/g, ' ');
  expect(withoutSpaces(PAGE)).toContain(`\n${head}\n`);
  for (const row of rows) expect(withoutSpaces(PAGE)).toContain(row.split(' | ').slice(0, 3).join(' | '));
  expect(rows[0]).toMatch(/ \| 171 s \|$/);
  expect(rows.at(-1)).toMatch(/ \| not tried to its end: only root may mount a file system \|$/);
  expect(renderTried(all({ code: 1 }))).toMatch(/ \| not found \|$/);
});
