import { expect, test } from 'vitest';
import type { Ledger, Posting } from '../../../faults/check/facts.ts';
import { readJournal } from '../../../faults/check/journal.ts';
import { momentsOf } from '../../../faults/check/moments.ts';
import { entry, record } from './entries.ts';

const posting = (seq: bigint, kind: string, records = 0) => ({ seq, kind, records }) as Posting;
const report = (ids: readonly string[], [from, to]: readonly [number, number | null]) =>
  entry('usage.report', { key: 'r', records: ids.map((id) => record(id)) }, [from, to]);

test('a charge lies between what can have caused it and what told of it, and a payment between charges', async () => {
  const { reports } = await readJournal([
    report(['a', 'b'], [10, null]),
    report(['a', 'b'], [20, 30]),
    // Both may have caused the charge of `c`, and only one of them told of it.
    report(['c', 'a'], [40, null]),
    report(['c'], [45, 60]),
    report(['d'], [70, null]),
  ]);
  const ledger = {
    postings: [
      posting(1n, 'usage', 2),
      posting(2n, 'top_up'),
      posting(3n, 'usage', 1),
      posting(4n, 'usage', 1),
    ],
    records: ['a', 'b', 'c', 'd'].map((id) => ({ id })),
  } as unknown as Ledger;
  const moments = momentsOf(ledger, reports).map(({ fromUs, untilUs }) => [fromUs, untilUs]);
  expect(moments).toEqual([
    [10, 30],
    [10, 60],
    [40, 60],
    [70, Number.POSITIVE_INFINITY],
  ]);
});
