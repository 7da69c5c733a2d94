import { expect, test } from 'vitest';
import { UsageGroups } from '../../../src/control/sessions/group-usage.ts';

test('all spellings of a name are one charge of a posting and tier, because each charge looks at all holds of the user', () => {
  const at = new Date();
  const posting = { kind: 'usage', at, records: 4n, insertedAt: at, ids: null, blocks: null } as const;
  const sumOf = (seq: bigint, participant: string, tier: 'audio' | 'hd' = 'audio') => {
    const usage = { records: 1n, seconds: 60n, longest: 60, egressBytes: 0n, ingressBytes: 0n, amount: 5n };
    return { seq, room: 'lobby', participant, tier, ...usage };
  };
  const postings = [1n, 2n].map((seq) => ({ ...posting, seq }));
  const sums = [
    sumOf(1n, 'ann'),
    sumOf(1n, 'Ann'),
    sumOf(1n, 'ANN'),
    sumOf(1n, 'ann', 'hd'),
    sumOf(1n, 'bob'),
    sumOf(2n, 'Ann'),
  ];
  const groups = new UsageGroups(postings as never, sums);
  groups.assign([]);
  expect(groups.charges().map(({ participant, seconds, micros }) => [participant, seconds, micros])).toEqual([
    ['ann', 180, 15n],
    ['ann', 60, 5n],
    ['bob', 60, 5n],
    ['ann', 60, 5n],
  ]);
});
