import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readJournal } from '../../../faults/check/journal.ts';
import { entry } from './entries.ts';

const record = { id: 'a', role: 'host', tier: 'hd', seconds: 60, egress_bytes: 5, ingress_bytes: 1 };

test('a file is read line by line, and a line that was cut off is named', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'journal-'));
  try {
    const path = join(folder, 'journal.jsonl');
    const lines = [
      entry('key.use', { key: 'k' }, [1, 2]),
      entry('usage.report', { key: 'r', records: [record, record] }, [3, null]),
    ].map((each) => JSON.stringify(each));
    await writeFile(path, `${lines[0]}\n${lines[1]}\n{"client":1,"op":"key.u`);
    const { entries, reports, lines: count, unreadable } = await readJournal(path);
    expect(entries.map(({ op }) => op)).toEqual(['key.use']);
    expect(reports.map(({ ids, entry }) => [ids, entry.outcome, entry.args.records])).toEqual([
      [['a', 'a'], 'unknown', undefined],
    ]);
    expect([count, unreadable]).toEqual([3, [3]]);
  } finally {
    await rm(folder, { recursive: true });
  }
});

test('what was sent under an id is kept once for each payload', async () => {
  const other = { ...record, seconds: 61 };
  const report = (...records: (typeof record)[]) => entry('usage.report', { key: 'r', records }, [1, 2]);
  const { sent } = await readJournal([report(record), report(record, other)]);
  const [payloads] = [...sent.values()].map((ids) => ids.get('a')!);
  expect(payloads!.map((payload) => JSON.parse(payload)[2])).toEqual(['60', '61']);
});
