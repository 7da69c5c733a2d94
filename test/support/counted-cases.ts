/**
 * How many cases docs/tried.md says were tried against each door, and how many there are. A case is one test with one set of
 * values.
 *
 * The page says "at least", with two digits, so that a new test seldom changes it.
 */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export const TRIED_PAGE = join(import.meta.dirname, '../../docs/tried.md');

/** Below this share of what there is, a figure on the page is too old. */
const SHARE_MIN = 0.8;

/** Cases of each test file, by its path from the working directory. */
export type Cases = ReadonlyMap<string, number>;

/** A row of the table. */
export interface Counted {
  readonly door: string;
  readonly atLeast: number;
  /** Test files and folders. */
  readonly paths: readonly string[];
}

/** `| door | what was tried | at least | tests |` */
const ROW = /^\| ([^|]+) \| [^|]+ \| ([\d,]+) \| (`[^|]+`) \|$/gm;

export function readCounted(path = TRIED_PAGE): Counted[] {
  return [...readFileSync(path, 'utf8').matchAll(ROW)].map(([, door = '', atLeast = '', tests = '']) => ({
    door,
    atLeast: Number(atLeast.replaceAll(',', '')),
    paths: [...tests.matchAll(/`([^`]+)`/g)].map(([, each]) => each!),
  }));
}

/** `undefined`: not all files of the row were counted. */
export function countCases({ paths }: Counted, cases: Cases): number | undefined {
  const files = paths.flatMap((path) => (path.endsWith('.ts') ? [path] : globSync(`${path}/**/*.test.ts`)));
  const counts = files.map((file) => cases.get(file));
  return counts.includes(undefined) ? undefined : counts.reduce<number>((sum, count) => sum + count!, 0);
}

/** A line for each figure that is more than there are, or much less. */
export function findStale(rows: readonly Counted[], cases: Cases): string[] {
  return rows.flatMap((row) => {
    const count = countCases(row, cases);
    if (count === undefined || (row.atLeast <= count && row.atLeast >= SHARE_MIN * count)) return [];
    return [`docs/tried.md says at least ${row.atLeast} cases of ${row.door}: say ${roundDown(count)}`];
  });
}

/** To two digits. */
export function roundDown(count: number): number {
  const unit = 10 ** Math.max(0, Math.floor(Math.log10(count)) - 1);
  return Math.floor(count / unit) * unit;
}
