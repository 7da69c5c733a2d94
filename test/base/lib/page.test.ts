import { describe, expect, test } from 'vitest';
import { readPage } from '../../../src/base/lib/page.ts';

describe('readPage', () => {
  const list = ['a', 'b', 'c'];
  const find = async (limit: number) => list.slice(0, limit);

  test.each([
    [1, { items: ['a'], end: 'a' }],
    [2, { items: ['a', 'b'], end: 'b' }],
    [3, { items: ['a', 'b', 'c'], end: undefined }],
    [4, { items: ['a', 'b', 'c'], end: undefined }],
  ])('a page of %i', async (size, page) => {
    expect(await readPage(size, find)).toStrictEqual(page);
  });

  test('an empty list is one empty page', async () => {
    expect(await readPage(2, async () => [])).toStrictEqual({ items: [], end: undefined });
  });
});
