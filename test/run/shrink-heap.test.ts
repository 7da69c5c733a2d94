import { expect, test } from 'vitest';
import { shrinkHeap } from '../../src/run/shrink-heap.ts';

const MB = 1024 * 1024;

test('unused memory is returned to the system', () => {
  let load: object[] | undefined = Array.from({ length: 1_000_000 }, (_, index) => ({ index }));
  const before = process.memoryUsage().heapTotal;
  expect(load.length * 16).toBeLessThan(before);
  load = undefined;
  shrinkHeap();
  expect(process.memoryUsage().heapTotal).toBeLessThan(before - 16 * MB);
  expect(globalThis.gc).toBeUndefined();
});
