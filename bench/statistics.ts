/** Summary statistics. */

export type Range = readonly [low: number, high: number];

/** `values` need not be sorted; NaN if empty. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2;
}

/** The nearest-rank percentile. `sorted` is ascending and not empty. */
export function percentile(sorted: Float64Array, percent: number): number {
  return sorted[Math.max(0, Math.ceil((sorted.length * percent) / 100) - 1)]!;
}

export function rangeOf(values: readonly number[]): Range {
  return [Math.min(...values), Math.max(...values)];
}
