import { expect, test } from 'vitest';
import { batchesOf } from '../../../src/base/lib/batches.ts';

async function* count(to: number) {
  for (let number = 1; number <= to; number += 1) yield number;
}

test.each([
  [0, []],
  [1, [[1]]],
  [3, [[1, 2, 3]]],
  [4, [[1, 2, 3], [4]]],
])('%i items in lists of three', async (items, expected) => {
  const found: number[][] = [];
  for await (const batch of batchesOf(3, count(items))) found.push(batch);
  expect(found).toEqual(expected);
});
