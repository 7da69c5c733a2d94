import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { readJournal, type SentRecord } from '../../../faults/check/journal.ts';
import { openScratch } from '../../support/scratch.ts';
import { entry, record } from './entries.ts';

test('a file is read line by line, and a line that was cut off is named', async () => {
  const scratch = openScratch('boxoffice-journal-');
  onTestFinished(() => scratch.remove());
  const path = join(scratch.folder, 'journal.jsonl');
  const lines = [
    entry('key.use', { key: 'k' }, [1, 2]),
    entry('usage.report', { key: 'r', records: [record('a'), record('a')] }, [3, null]),
  ].map((each) => JSON.stringify(each));
  await writeFile(path, `${lines[0]}\n${lines[1]}\n{"client":1,"op":"key.u`);
  const { entries, reports, lines: count, unreadable } = await readJournal(path);
  expect(entries.map(({ op }) => op)).toEqual(['key.use']);
  expect(reports.map(({ ids, entry }) => [ids, entry.outcome, entry.args.records])).toEqual([
    [['a', 'a'], 'unknown', undefined],
  ]);
  expect([count, unreadable]).toEqual([3, [3]]);
});

test('what was sent under an id is kept once for each payload', async () => {
  const report = (...records: SentRecord[]) => entry('usage.report', { key: 'r', records }, [1, 2]);
  const other = record('a', { seconds: 61 });
  const { sent } = await readJournal([report(record('a')), report(record('a'), other)]);
  const [payloads] = [...sent.values()].map((ids) => ids.get('a')!);
  expect(payloads!.map((payload) => JSON.parse(payload)[2])).toEqual(['60', '61']);
});
