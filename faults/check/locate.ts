/** Says of a problem on which lines of the journal its names stand. */
import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';

/** Lines of a problem. */
const PLACES_MAX = 3;
/** What the journal calls things by: a word with a digit in it. */
const NAME = /[\w./-]*\d(?:[\w./-]*\w)?/g;
/** Tenants and numbers stand on many lines. */
const COMMON = /^(t_[0-9a-f]{16}|\d+)$/;

interface Search {
  readonly needles: readonly Needle[];
  best: number;
  lines: number[];
}

interface Needle {
  /** As members of JSON are written. */
  readonly texts: readonly string[];
  readonly isCommon: boolean;
}

/** Adds to each line the places that have most of its names, and not only common ones: `journal.jsonl:12, 40`. */
export async function locate(
  problems: readonly string[],
  path: string,
  keptAs: string,
): Promise<readonly string[]> {
  if (problems.length === 0) return problems;
  const searches = problems.map(searchFor);
  let count = 0;
  for await (const line of createInterface({ input: createReadStream(path) })) {
    count += 1;
    for (const search of searches) look(search, line, count);
  }
  return problems.map((problem, at) => {
    const { lines } = searches[at]!;
    return lines.length === 0 ? problem : `${problem} (${keptAs}:${lines.join(', ')})`;
  });
}

function searchFor(problem: string): Search {
  const [, said = ''] = /^.*?: (.*)$/s.exec(problem) ?? [];
  const needles = [...new Set(said.match(NAME))].map((name) => ({
    texts: /^\d+$/.test(name) ? [`:${name},`, `:${name}}`, `"${name}"`] : [`"${name}"`],
    isCommon: COMMON.test(name),
  }));
  return { needles, best: 0, lines: [] };
}

function look(search: Search, line: string, number: number): void {
  const found = search.needles.filter(({ texts }) => texts.some((text) => line.includes(text)));
  if (found.every(({ isCommon }) => isCommon) || found.length < search.best) return;
  if (found.length > search.best) [search.best, search.lines] = [found.length, []];
  if (search.lines.length < PLACES_MAX) search.lines.push(number);
}
