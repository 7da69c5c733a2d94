/**
 * Which runs of a tenant are merged. A check looks into each run, so there should be few; but each merge writes all of its entries again.
 *
 * Four runs of about the same size become one, so a tenant has at most three runs of each fourfold size, and each entry is written once
 * for each size.
 */

const FAN_OUT = 4;

/** How many of the smallest runs to merge into one, with at most `entriesMax` entries. `sizes`: their entries, ascending. */
export function chooseRuns(sizes: readonly number[], entriesMax = Number.POSITIVE_INFINITY): number {
  let merged = 0;
  let entries = 0;
  for (;;) {
    const left = merged === 0 ? sizes : [entries, ...sizes.slice(merged)].toSorted((a, b) => a - b);
    let sum = 0;
    const sums = left.map((size) => (sum += size));
    const last = left.findLastIndex(
      (size, at) => at >= FAN_OUT - 1 && size < FAN_OUT * left[at - FAN_OUT + 1]! && sums[at]! <= entriesMax,
    );
    if (last < 0) return merged;
    // All runs that are smaller are merged too. The one that was merged before is among them.
    merged += last + 1 - (merged === 0 ? 0 : 1);
    entries = sums[last]!;
  }
}
