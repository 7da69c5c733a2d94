import { expect, it } from 'vitest';
import { BloomFilter, segmentBytes } from '../../../../src/money/records/known-ids/bloom-filter.ts';
import { hashText } from '../../../../src/money/records/known-ids/id-hash.ts';

/** A filter that grew to `count` hashes. */
function fill(count: number, firstSegment: number) {
  const filter = new BloomFilter();
  filter.grow(firstSegment);
  for (let at = 0; at < count; at += 1) {
    if (filter.room === 0) filter.grow(filter.count);
    filter.add(hashText(`known-${at}`));
  }
  return filter;
}

function countMissed(filter: BloomFilter, count: number): number {
  let missed = 0;
  for (let at = 0; at < count; at += 1) if (!filter.mayHave(hashText(`known-${at}`))) missed += 1;
  return missed;
}

function falseRate(filter: BloomFilter): number {
  let suspects = 0;
  for (let at = 0; at < 200_000; at += 1) if (filter.mayHave(hashText(`new-${at}`))) suspects += 1;
  return suspects / 200_000;
}

it('has each hash that was added, and few others', () => {
  const filter = fill(200_000, 200_000);
  expect(countMissed(filter, 200_000)).toBe(0);
  expect(falseRate(filter)).toBeLessThan(0.005);
  expect(filter.bytes).toBe(segmentBytes(200_000));
});

it('stays so when it grows', () => {
  const filter = fill(200_000, 25_000);
  expect(countMissed(filter, 200_000)).toBe(0);
  expect(falseRate(filter)).toBeLessThan(0.018);
  expect(filter.segments).toBe(4);
  expect(filter.bytes).toBe(segmentBytes(200_000));
});

it('takes no room for a hash that it has', () => {
  const filter = fill(500, 1_000);
  const { room } = filter;
  for (let at = 0; at < 500; at += 1) filter.add(hashText(`known-${at}`));
  expect(filter.room).toBe(room);
});
