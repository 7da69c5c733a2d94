/** Each page says who it is for and how it goes on, and is read in ten minutes. Every page has its place in the lists of readers. */
import { globSync } from 'node:fs';
import { posix } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readReaders } from '../../src/doors/rest/site/readers.ts';
import { PAGES, readPage } from './blocks.ts';

const WORDS_MAX = 2_500;
/** Its length is that of the contract. */
const GENERATED = 'docs/control-plane-errors.md';
/** It is a list itself. */
const CONTENTS = 'docs/README.md';

const withoutComments = (page: string) => readPage(page).replace(/<!--[\s\S]*?-->\n*/g, '');

/** Paragraphs, headings, lists and tables. */
const blocksOf = (page: string) =>
  withoutComments(page)
    .trim()
    .split(/\n{2,}/);

describe.each(PAGES)('%s', (page) => {
  test('begins with its name and what it is for', () => {
    const [name, purpose] = blocksOf(page);
    expect(name).toMatch(/^# \S[^\n]*$/);
    expect(purpose).toMatch(page === 'README.md' ? /^Boxoffice is / : /^For [^|#]+$/);
  });

  test.skipIf(page === CONTENTS)('ends with what is next', () => {
    expect(blocksOf(page).at(-1)).toMatch(/^Next: (?:\[[^\]]+\]\([\w./-]+\.md\)(?:, | and |\.$))+$/);
  });

  test.skipIf(page === GENERATED)(`has ${WORDS_MAX} words at most`, () => {
    const words = withoutComments(page)
      .split(/\s+/)
      .filter((word) => /[a-z\d]/i.test(word));
    expect(words.length).toBeLessThanOrEqual(WORDS_MAX);
  });
});

describe('the lists of docs/README.md', () => {
  const readers = readReaders(readPage(CONTENTS));
  const entries = readers.flatMap((reader) => reader.pages.map((page) => ({ ...page, reader: reader.name })));

  test('are those of six kinds of readers, and say for whom they are', () => {
    expect(readers).toHaveLength(6);
    for (const { pages, text } of readers) {
      expect(text.split('\n\n')[0]!.length).toBeGreaterThan(40);
      expect(text.match(/^\d+\. /gm)).toHaveLength(pages.length);
    }
  });

  test('have every page', () => {
    const listed = new Set(entries.map(({ path }) => path));
    const pages = globSync('docs/*.md', { cwd: posix.join(import.meta.dirname, '../..') });
    expect([...pages, 'README.md', 'CONTRIBUTING.md'].filter((page) => !listed.has(page))).toEqual([
      CONTENTS,
    ]);
  });

  test.each(entries.filter(({ path }) => /^docs\/[\w-]+\.md$/.test(path)))(
    '$reader: $path has its name in the list',
    ({ path, title }) => {
      expect(blocksOf(path)[0]).toBe(`# ${title}`);
    },
  );
});

test('what the page of health refers to is there', () => {
  const source = readPage('src/doors/ops/console/health.ts');
  const places = [...source.matchAll(/inDocs\('([\w-]+\.md)(?:#([\w-]+))?'\)/g)];
  expect(places.length).toBeGreaterThan(8);
  for (const [, page, anchor] of places) {
    const headings = withoutComments(`docs/${page}`).match(/^##+ .*$/gm) ?? [];
    const anchors = headings.map((each) => each.replace(/^#+ /, '').toLowerCase().replaceAll(' ', '-'));
    if (anchor !== undefined) expect(anchors, page).toContain(anchor);
  }
});
