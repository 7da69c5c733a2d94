import { expect, test } from 'vitest';
import { ITEMS_PER_SLICE, renderInSlices } from '../../../src/doors/rest/slices.ts';

const render = (items: readonly number[]) => JSON.stringify({ items, next_cursor: 'x' });

test.each([0, 1, ITEMS_PER_SLICE, ITEMS_PER_SLICE + 1, 10 * ITEMS_PER_SLICE])(
  '%i items have the text of all, a slice at a time',
  (count) => {
    const items = Array.from({ length: count }, (_, at) => at);
    const sizes: number[] = [];
    const slices = renderInSlices(items, (some) => {
      sizes.push(some.length);
      return render(some);
    });
    let next = slices.next();
    // Without items, once; then one more with each slice.
    for (let done = 1; !next.done; done += 1) {
      expect(sizes).toHaveLength(done + 1);
      next = slices.next();
    }
    expect(next.value).toBe(render(items));
    expect(Math.max(...sizes)).toBeLessThanOrEqual(ITEMS_PER_SLICE);
  },
);
