/** How a period is put together: weeks in its middle, days around them, and hours around those. All in UTC. */

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const WEEK_MS = 7 * DAY_MS;
/** Time 0 was a Thursday, and weeks begin on Monday. */
const MONDAY_MS = 4 * DAY_MS;

/** Of what the parts are, besides hours. */
export const PARTS = ['day', 'week'] as const;
export type Part = (typeof PARTS)[number];

const LENGTHS: Readonly<Record<Part, { readonly ms: number; readonly first: number }>> = {
  day: { ms: DAY_MS, first: 0 },
  week: { ms: WEEK_MS, first: MONDAY_MS },
};

/** Which sums there are besides those of hours. */
export interface Kept {
  /** The longest part whose sums answer the question; none: hours alone. */
  readonly upTo: Part | undefined;
  /** The midnight up to which days and weeks are added up. */
  readonly until: Date;
}

/**
 * The edges of the parts, in order: `from`, where whole days begin, where weeks begin, where they end, where days end, `to`.
 * A part may be empty.
 */
export function edgesOf(from: Date, to: Date, { upTo, until }: Kept): Date[] {
  const parts = upTo === undefined ? [] : PARTS.slice(0, PARTS.indexOf(upTo) + 1);
  let [first, last] = [from.getTime(), to.getTime()];
  const before = [first];
  const after = [last];
  // Nothing if `until` is before the period.
  last = Math.min(last, Math.max(first, until.getTime()));
  for (const part of parts) {
    [first, last] = wholeOf(part, first, last);
    before.push(first);
    after.unshift(last);
  }
  return [...before, ...after].map((edge) => new Date(edge));
}

/** From the first to the end of the last whole one; if there is none, nothing at the end. */
function wholeOf(part: Part, from: number, to: number): [number, number] {
  const { ms, first } = LENGTHS[part];
  const start = Math.ceil((from - first) / ms) * ms + first;
  const end = Math.floor((to - first) / ms) * ms + first;
  return start < end ? [start, end] : [to, to];
}
