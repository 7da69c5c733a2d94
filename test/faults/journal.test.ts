import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { type AnyEntry, Journal, readJournal } from '../../faults/journal.ts';
import { openScratch } from '../support/scratch.ts';

const USE = { tenant: 't_1', key: 'k', service: 0 };

async function openJournal() {
  const scratch = openScratch('boxoffice-journal-');
  onTestFinished(() => scratch.remove());
  return new Journal(join(scratch.folder, 'journal.jsonl'));
}

async function readAll(journal: Journal) {
  const all: AnyEntry[] = [];
  for await (const entry of readJournal(journal.path)) all.push(entry);
  return all;
}

test('it holds operations with their times and answers, in the order of their ends', async () => {
  const journal = await openJournal();
  const late = Promise.withResolvers<void>();
  const first = journal.record(1, 'key.use', USE, async () => {
    await late.promise;
    return { outcome: 'refused', status: 401 };
  });
  const { json } = await journal.record(2, 'key.use', USE, async () => ({
    ...{ outcome: 'ok' as const, status: 200, answer: { a: 1 } },
    json: 'for the client only',
  }));
  late.resolve();
  await first;
  journal.note('settled', { at: '2026-11-20T08:00:00.000Z' });
  await journal.close();

  expect(json).toBe('for the client only');
  const entries = await readAll(journal);
  expect(entries).toMatchObject([
    { client: 2, op: 'key.use', args: USE, outcome: 'ok', status: 200, answer: { a: 1 } },
    { client: 1, op: 'key.use', args: USE, outcome: 'refused', status: 401 },
    { client: -1, op: 'settled', args: { at: '2026-11-20T08:00:00.000Z' }, outcome: 'ok' },
  ]);
  expect(JSON.stringify(entries)).not.toContain('for the client only');
  expect(entries.every(({ invokedUs, returnedUs }) => invokedUs <= returnedUs!)).toBe(true);
  expect(journal.counts.get('key.use')).toBe(2);
  expect(journal.counts.get('key.use refused')).toBe(1);
});

test('an operation without an answer has no end', async () => {
  const journal = await openJournal();
  await journal.record(1, 'key.use', USE, async () => ({ outcome: 'unknown' }));
  await journal.record(1, 'key.use', USE, async () => ({ outcome: 'unknown', status: 500 }));
  await journal.close();
  const entries = await readAll(journal);
  expect(entries.map(({ returnedUs }) => returnedUs === null)).toEqual([true, false]);
});
