/** How a period is put together: weeks or months in its middle, days around them, and hours around those. All in UTC. */

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const WEEK_MS = 7 * DAY_MS;
/** Time 0 was a Thursday, and weeks begin on Monday. */
const MONDAY_MS = 4 * DAY_MS;

export type Part = 'day' | 'week' | 'month';

/** Each part consists of whole ones of the part before it. Weeks and months do not. */
export const SHORT_PARTS: readonly Part[] = ['day', 'week'];
export const LONG_PARTS: readonly Part[] = ['day', 'month'];

/** Which sums there are besides those of hours. */
export interface Kept {
  /** The parts whose sums answer the question, from short to long; none: hours alone. */
  readonly parts: readonly Part[];
  /** The midnight up to which they are added up. */
  readonly until: Date;
}

/**
 * The edges of the parts, in order: `from`, where whole days begin, where weeks begin, where they end, where days end, `to`.
 * A part may be empty.
 */
export function edgesOf(from: Date, to: Date, { parts, until }: Kept): Date[] {
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
  const end = startOf(part, to);
  const start = startOf(part, from) === from ? from : nextOf(part, from);
  return start < end ? [start, end] : [to, to];
}

/** The start of the day, week or month in which a time is. */
function startOf(part: Part, time: number): number {
  const at = new Date(time);
  if (part === 'month') return Date.UTC(at.getUTCFullYear(), at.getUTCMonth());
  if (part === 'day') return Math.floor(time / DAY_MS) * DAY_MS;
  return Math.floor((time - MONDAY_MS) / WEEK_MS) * WEEK_MS + MONDAY_MS;
}

function nextOf(part: Part, time: number): number {
  const start = startOf(part, time);
  if (part === 'day') return start + DAY_MS;
  if (part === 'week') return start + WEEK_MS;
  return startOf('month', start + 31 * DAY_MS);
}

/** The way in which the period has the fewest parts. */
export function shortestWay(
  from: Date,
  to: Date,
  { ways, until }: { readonly ways: readonly (readonly Part[])[]; readonly until: Date },
): readonly Part[] {
  const counts = ways.map((parts) => countParts(edgesOf(from, to, { parts, until }), parts));
  return ways[counts.indexOf(Math.min(...counts))] ?? [];
}

function countParts(edges: readonly Date[], parts: readonly Part[]): number {
  const lengths = [HOUR_MS, ...parts.map((part) => nextOf(part, 0) - startOf(part, 0))];
  return edges.slice(1).reduce((sum, edge, at) => {
    const depth = Math.min(at, edges.length - 2 - at);
    return sum + (edge.getTime() - edges[at]!.getTime()) / lengths[depth]!;
  }, 0);
}
