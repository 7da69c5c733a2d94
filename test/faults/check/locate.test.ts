import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { locate } from '../../../faults/check/locate.ts';
import { openScratch } from '../../support/scratch.ts';
import { entry, record } from './entries.ts';

const TENANT = 't_00000000000000aa';

async function locateIn(problem: string): Promise<string> {
  const scratch = openScratch('boxoffice-journal-');
  onTestFinished(() => scratch.remove());
  const path = join(scratch.folder, 'journal.jsonl');
  const args = { tenant: TENANT, key: 'k1' };
  const lines = [
    entry('key.use', args, [1, 2]),
    entry('usage.report', { ...args, records: [record('f1-2')] }, [3, 4]),
    entry('usage.report', { tenant: 't_00000000000000ab', key: 'k1', records: [record('f1-2')] }, [5, 6]),
    entry('usage.report', { ...args, records: [record('f1-22'), record('f1-2')] }, [7, 8]),
    entry('webhook.received', { webhook: '/t0/room', events: [{ id: 'e', seq: 9, type: 'key' }] }, [9, 9]),
    entry('key.use', args, [9, 10]),
  ];
  await writeFile(path, lines.map((each) => `${JSON.stringify(each)}\n`).join(''));
  return (await locate([problem], path, 'kept/journal.jsonl'))[0]!;
}

test.each([
  ['the lines that have all of its names', `a rule of 2: f1-2 of ${TENANT} was lost`, '2, 4'],
  ['those that have most of them', `a rule: f1-2 of ${TENANT} cost 77`, '2, 4'],
  ['no others that have more numbers', `a rule: f1-2 of ${TENANT}, 9 and 10`, '2, 4'],
  ['numbers', 'a rule: 9 came to /t0/room again', '5'],
])('a problem says %s', async (_, problem, lines) => {
  expect(await locateIn(problem)).toBe(`${problem} (kept/journal.jsonl:${lines})`);
});

test.each([
  `a rule: ${TENANT} has 7 where 8 should be`,
  'a rule: they add up to 5678',
  'after 40 s: the load',
])('%s has no name that leads to a line', async (problem) => expect(await locateIn(problem)).toBe(problem));
