/** What docs/trust.md and the pages after it name and count is there, and its security matrix has each requirement once. */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ALL_RULES } from '../../faults/check/check.ts';
import { CONTROLS } from '../../faults/controls.ts';
import { FAULTS } from '../../faults/inject/faults.ts';
import { KINDS } from '../../faults/load/kinds.ts';
import { readCounted, roundDown } from '../support/counted-cases.ts';

const ROOT = join(import.meta.dirname, '../..');
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');

/** Together, as if they were one page. */
const PAGE = ['trust', 'tried', 'campaign', 'security-matrix', 'security-matrix-more']
  .map((name) => read(`docs/${name}.md`))
  .join('\n');

/** How many requirements of level 1 and 2 each section of ASVS 5.0.0 has. They come first in their section. */
const REQUIREMENTS: Readonly<Record<string, number>> = {
  ...{ '1.1': 2, '1.2': 9, '1.3': 11, '1.4': 3, '1.5': 2 },
  ...{ '2.1': 3, '2.2': 3, '2.3': 4, '2.4': 1 },
  ...{ '3.2': 2, '3.3': 4, '3.4': 6, '3.5': 5, '3.7': 2 },
  ...{ '4.1': 3, '4.2': 1, '4.3': 2, '4.4': 4 },
  ...{ '5.1': 1, '5.2': 3, '5.3': 2, '5.4': 3 },
  ...{ '6.1': 3, '6.2': 12, '6.3': 4, '6.4': 4, '6.5': 5, '6.6': 3, '6.8': 4 },
  ...{ '7.1': 3, '7.2': 4, '7.3': 2, '7.4': 5, '7.5': 2, '7.6': 2 },
  ...{ '8.1': 2, '8.2': 3, '8.3': 1, '8.4': 1 },
  ...{ '9.1': 3, '9.2': 4 },
  ...{ '10.1': 2, '10.2': 2, '10.3': 4, '10.4': 11, '10.5': 5, '10.6': 2, '10.7': 3 },
  ...{ '11.1': 2, '11.2': 3, '11.3': 3, '11.4': 4, '11.5': 1, '11.6': 1 },
  ...{ '12.1': 3, '12.2': 2, '12.3': 4 },
  ...{ '13.1': 1, '13.2': 5, '13.3': 2, '13.4': 5 },
  ...{ '14.1': 2, '14.2': 4, '14.3': 3 },
  ...{ '15.1': 3, '15.2': 3, '15.3': 7 },
  ...{ '16.1': 1, '16.2': 5, '16.3': 4, '16.4': 3, '16.5': 3 },
  ...{ '17.1': 1, '17.2': 4, '17.3': 2 },
};

const ALL = Object.entries(REQUIREMENTS).flatMap(([section, count]) =>
  Array.from({ length: count }, (_, at) => `${section}.${at + 1}`),
);

/** The last part of a number. */
const partOf = (number: string) => Number(number.split('.').at(-1));

/** The numbers of a row, such as `5.1.1, 5.2.1–5.2.3`. */
function expand(numbers: string): string[] {
  return numbers.split(', ').flatMap((each) => {
    const [from = '', to = from] = each.split('–');
    const section = from.slice(0, from.lastIndexOf('.'));
    expect(to.slice(0, to.lastIndexOf('.'))).toBe(section);
    const [first, last] = [partOf(from), partOf(to)];
    return Array.from({ length: last - first + 1 }, (_, at) => `${section}.${first + at}`);
  });
}

const ROWS = [...PAGE.matchAll(/^\| (\d+\.\d+\.[^|]*?) \| (.*?) \| (.*) \|$/gm)].map(
  ([, numbers = '', rule = '', shownBy = '']) => ({ numbers: expand(numbers), rule, shownBy }),
);

/** A row is what its first of these words says. */
const OUTCOMES = ['Not applied', 'Not met', 'In part', 'Operator'] as const;

const outcomeOf = (shownBy: string) =>
  OUTCOMES.find((outcome) => shownBy.includes(`**${outcome}**`)) ?? 'Met';

const COLUMNS = ['Met', 'In part', 'Operator', 'Not met', 'Not applied'] as const;

/** The requirements of a chapter, or all of them, by outcome. */
function countOutcomes(chapter?: string): number[] {
  const counts = Object.fromEntries(COLUMNS.map((outcome) => [outcome, 0]));
  for (const { numbers, shownBy } of ROWS) {
    const own = numbers.filter((number) => chapter === undefined || number.startsWith(`${chapter}.`));
    counts[outcomeOf(shownBy)]! += own.length;
  }
  const each = COLUMNS.map((outcome) => counts[outcome]!);
  return [each.reduce((sum, count) => sum + count), ...each];
}

test('every file and folder that they name exists', () => {
  const paths = [...PAGE.matchAll(/`((?:bench|deploy|docs|relay|scripts|sdk|src|test)\/[^`\s]*)`/g)];
  const missing = paths.map(([, path]) => path!).filter((path) => globSync(path, { cwd: ROOT }).length === 0);
  expect(paths.length).toBeGreaterThan(200);
  expect(missing).toEqual([]);
});

test('every test that they name stands in the file before it', () => {
  const named = [...PAGE.matchAll(/`(test\/[^`\s]+)`: (`(?!test\/)[^`]+`(?:, `(?!test\/)[^`]+`)*)/g)].flatMap(
    ([, file, titles]) =>
      titles!
        .slice(1, -1)
        .split('`, `')
        .map((title) => [file!, title] as const),
  );
  expect(named.length).toBeGreaterThan(150);
  const missing = named.filter(([file, title]) => {
    const text = read(file);
    return !["'", '"', '`'].some((quote) => text.includes(`${quote}${title}${quote}`));
  });
  expect(missing).toEqual([]);
});

/** The rows of the table under a heading, each by its cells. */
function rowsUnder(heading: string): string[][] {
  const [, text = ''] = PAGE.split(`\n${heading}\n`);
  const [, rows = ''] = /\n\| --.*\n((?:\|.*\n)+)/.exec(text) ?? [];
  return [...rows.matchAll(/^\| (.*?) *\|$/gm)].map(([, cells]) => cells!.split(/ +\| +/));
}

describe('the campaign', () => {
  test('has the clients and the faults that the page says', () => {
    const [, clients, faults] = /(\d+) clients a tenant .* (\d+) kinds of faults/s.exec(PAGE) ?? [];
    expect(KINDS.reduce((sum, kind) => sum + kind.clients, 0)).toBe(Number(clients));
    // Both services have faults of the same names.
    expect(new Set(FAULTS.map(({ name }) => name)).size).toBe(Number(faults));
  });

  test('is checked by the rules of the page', () => {
    const rules = rowsUnder('### What the checker looks at').flatMap(([, names]) => names!.split('; '));
    expect(rules).toEqual(ALL_RULES.map(({ name }) => name));
  });

  test('has the controls of the page', () => {
    const controls = rowsUnder('## Controls that must fail').map((cells) => cells.slice(0, 3));
    expect(controls).toEqual(
      CONTROLS.map(({ name, summary, foundBy }) => [`\`${name}\``, summary, foundBy.join('; ')]),
    );
  });

  test('has controls that are found by rules which there are', () => {
    const rules = new Set(ALL_RULES.map(({ name }) => name));
    expect(CONTROLS.flatMap(({ foundBy }) => foundBy).filter((rule) => !rules.has(rule))).toEqual([]);
  });
});

// How many there are is known at the end of a run: see RunReporter.
test('each row of what was tried has a figure of two digits, and where it was tried', () => {
  const counted = readCounted();
  expect(counted.map(({ door }) => door)).toEqual(
    rowsUnder('## What was tried against each door').map(([door]) => door),
  );
  for (const { atLeast } of counted) expect(atLeast).toBe(roundDown(atLeast));
});

describe('the security matrix', () => {
  test('has each requirement of ASVS 5.0.0, level 1 and 2, once', () => {
    expect(ALL).toHaveLength(253);
    const numbers = ROWS.flatMap((row) => row.numbers);
    expect(numbers.toSorted()).toEqual(ALL.toSorted());
  });

  test('has its rows in order', () => {
    const firsts = ROWS.map(({ numbers }) => ALL.indexOf(numbers[0]!));
    expect(firsts).toEqual(firsts.toSorted((a, b) => a - b));
  });

  test('is counted as it is', () => {
    const counted = [...PAGE.matchAll(/^\| (?:V(\d+)|\*\*All\*\*) [^|]*\|((?: +\d+ \|){6})$/gm)];
    expect(counted.map(([, chapter]) => chapter)).toEqual([
      ...Array.from({ length: 17 }, (_, at) => String(at + 1)),
      undefined,
    ]);
    for (const [line, chapter, counts] of counted)
      expect(counts!.match(/\d+/g)!.map(Number), line).toEqual(countOutcomes(chapter));
  });

  test('says of each row what shows it, or why nothing does', () => {
    const without = ROWS.filter(
      ({ shownBy }) => !/`test\/|\]\(|\*\*(?:Not|In|Operator)|^as |^the same/.test(shownBy),
    );
    expect(without).toEqual([]);
  });
});

describe('what no other test shows', () => {
  const sources = globSync('{src,pages}/**/*.ts', { cwd: ROOT }).map((path) => ({ path, text: read(path) }));
  const filesWith = (words: RegExp) => sources.filter(({ text }) => words.test(text)).map(({ path }) => path);

  test('src starts no program but PostgreSQL', () => {
    expect(filesWith(/node:child_process/).toSorted()).toEqual([
      'src/run/embedded-postgres/cluster.ts',
      'src/run/embedded-postgres/user.ts',
      'src/run/recovery/postgres-programs.ts',
    ]);
    expect(filesWith(/shell: true/)).toEqual([]);
  });

  test('src evaluates no text as a program', () => {
    // It asks V8 for the garbage collector, by a constant.
    expect(filesWith(/\beval\(|new Function\(|node:vm/)).toEqual(['src/run/shrink-heap.ts']);
  });

  test('pages keep nothing in the browser', () => {
    expect(filesWith(/\b(?:localStorage|sessionStorage|indexedDB)\b|document\.cookie/)).toEqual([]);
  });
});
