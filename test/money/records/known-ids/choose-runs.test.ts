import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { chooseRuns } from '../../../../src/money/records/known-ids/choose-runs.ts';

const ascending = (sizes: readonly number[]) => sizes.toSorted((one, other) => one - other);

/** After each of the sizes was added and merged. */
function add(sizes: readonly number[]): { runs: number[]; runsMax: number; written: number } {
  let runs: number[] = [];
  let runsMax = 0;
  let written = 0;
  for (const size of sizes) {
    runs = ascending([...runs, size]);
    const merged = runs.slice(0, chooseRuns(runs));
    const sum = merged.reduce((all, each) => all + each, 0);
    if (merged.length > 0) runs = ascending([...runs.slice(merged.length), sum]);
    written += size + sum;
    runsMax = Math.max(runsMax, runs.length);
  }
  return { runs, runsMax, written };
}

describe('chosen runs', () => {
  test.each([
    [[], 0],
    [[1, 1, 1], 0],
    [[1, 1, 1, 1], 4],
    [[1, 1, 1, 4], 0],
    [[1, 1, 1, 1, 4, 4], 4],
    [[1, 1, 1, 1, 4, 4, 4], 7],
    [[1, 10, 10, 10, 10, 1000], 5],
    [[0, 0, 0, 0], 0],
  ])('of %j: %i', (sizes, chosen) => {
    expect(chooseRuns(sizes)).toBe(chosen);
  });

  test('have at most so many entries as may be merged', () => {
    expect(chooseRuns([10, 10, 10, 10, 40, 40, 40, 40], 50)).toBe(4);
    expect(chooseRuns([10, 10, 10, 10], 39)).toBe(0);
  });

  test('leave few, and are written seldom', () => {
    expect(add(new Array(36).fill(100_000))).toMatchObject({ runs: [400_000, 1_600_000, 1_600_000] });
    const many = add(new Array(10_000).fill(1));
    expect(many.runsMax).toBeLessThanOrEqual(3 * 7);
    expect(many.written / 10_000).toBeLessThanOrEqual(1 + 7);
  });

  test('leave at most three of each fourfold size, whatever their sizes', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 1, max: 1_000_000 }), { size: 'max', maxLength: 300 }),
        (sizes) => {
          const { runs } = add(sizes);
          expect(runs.some((size, at) => at >= 3 && size < 4 * runs[at - 3]!)).toBe(false);
          expect(runs.reduce((all, each) => all + each, 0)).toBe(sizes.reduce((all, each) => all + each, 0));
        },
      ),
    );
  });
});
