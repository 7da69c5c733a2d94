/** Every code block of the documents is run by a test, or says why not. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { BLOCKS, blocksOf, ROOT, readBlocks, readPage, runnerOf } from './blocks.ts';

describe('the blocks of the documents', () => {
  test('are all found', () => {
    const fences = [...new Set(BLOCKS.map(({ page }) => page))].flatMap(
      (page) => readPage(page).match(/^[ \t]*```/gm)!,
    );
    expect(BLOCKS.length).toBeGreaterThan(100);
    expect(BLOCKS).toHaveLength(fences.length / 2);
  });

  test('each have something that runs them, or a reason', () => {
    expect(BLOCKS.filter((block) => runnerOf(block) === undefined).map(({ where }) => where)).toEqual([]);
  });

  test('that nothing runs say why, and are few', () => {
    const left = blocksOf('nothing');
    for (const { where, notes } of left) expect(notes['not run'], where).toMatch(/^[a-z].{8,}/);
    expect(left.length / BLOCKS.length).toBeLessThanOrEqual(0.05);
  });

  test.each(blocksOf('another test'))(
    'at $where are compared by the test that they name',
    ({ page, notes }) => {
      const file = notes['checked in']!;
      expect(existsSync(join(ROOT, file)), file).toBe(true);
      expect(readPage(file)).toContain(`'${page}'`);
    },
  );
});

describe('a block', () => {
  const read = (text: string) => readBlocks('page.md', text);

  test('has a language, a place, and the notes above it', () => {
    const [one, other] = read(
      'a\n\n<!-- needs: b -->\n\n<!-- until: c -->\n\n```sh\nd\n```\n\n```\ne\n```\n',
    );
    expect(one).toEqual({
      page: 'page.md',
      where: 'page.md:7',
      language: 'sh',
      info: 'sh',
      text: 'd\n',
      notes: { needs: 'b', until: 'c' },
    });
    expect(other).toMatchObject({ where: 'page.md:11', language: '', text: 'e\n', notes: {} });
  });

  test('of a list has no indentation', () => {
    expect(read('1. a\n\n   ```sh\n   b\n     c\n   ```\n')).toMatchObject([{ text: 'b\n  c\n' }]);
  });

  test('may not have a note that nothing knows', () => {
    expect(() => read('<!-- neds: b -->\n\n```sh\nd\n```\n')).toThrow('page.md:3: no note is called "neds"');
  });

  test('without a language and without notes is run by nothing', () => {
    expect(read('```\na\n```\n').map(runnerOf)).toEqual([undefined]);
    expect(read('<!-- output -->\n\n```\na\n```\n').map(runnerOf)).toEqual(['commands']);
    expect(read('<!-- not run: a picture -->\n\n```sh\na\n```\n').map(runnerOf)).toEqual(['nothing']);
  });
});
