/** Says of a problem on which lines of the journal its names stand. */
import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';

/** Lines of a problem. */
const PLACES_MAX = 3;
/** What the journal calls things by: a word with a digit in it. */
const NAME = /[\w./-]*\d(?:[\w./-]*\w)?/g;
const NUMBER = /^\d+$/;
const TENANT = /^t_[0-9a-f]{16}$/;
/** How much each says of what a line is about: all numbers less than a tenant, and all tenants less than another name. */
const WEIGHTS = { number: 1, tenant: 100, name: 10_000 };

interface Search {
  readonly needles: readonly Needle[];
  best: number;
  lines: number[];
}

interface Needle {
  /** As members of JSON are written. */
  readonly texts: readonly string[];
  readonly weight: number;
}

/** Adds to each line the places that have most of its names: `journal.jsonl:12, 40`. */
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
    texts: NUMBER.test(name) ? [`:${name},`, `:${name}}`, `"${name}"`] : [`"${name}"`],
    weight: weightOf(name),
  }));
  return { needles, best: 0, lines: [] };
}

function weightOf(name: string): number {
  if (NUMBER.test(name)) return WEIGHTS.number;
  return TENANT.test(name) ? WEIGHTS.tenant : WEIGHTS.name;
}

function look(search: Search, line: string, number: number): void {
  const found = search.needles.filter(({ texts }) => texts.some((text) => line.includes(text)));
  const weight = found.reduce((sum, each) => sum + each.weight, 0);
  if (weight < Math.max(WEIGHTS.name, search.best)) return;
  if (weight > search.best) [search.best, search.lines] = [weight, []];
  if (search.lines.length < PLACES_MAX) search.lines.push(number);
}
