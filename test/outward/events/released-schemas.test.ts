/** Schemas of events only gain members and words. After a release: `node scripts/event-baseline.ts`. */
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import {
  findBreaks,
  type ReleasedMember,
  type ReleasedSchemas,
  releasedSchemas,
} from '../../../scripts/event-baseline.ts';

const FILE = new URL('./released-schemas.json', import.meta.url);

test('what was released still holds', () => {
  expect(findBreaks(JSON.parse(readFileSync(FILE, 'utf8')), releasedSchemas())).toEqual([]);
});

describe('a change', () => {
  const text: ReleasedMember = { type: 'string', isRequired: true };
  const schema = (members: Record<string, ReleasedMember>, version = 1): ReleasedSchemas => ({
    balance_low: { version, members },
  });
  const words = (...list: string[]) => ({ ...text, words: list });
  const breaks = (
    before: Record<string, ReleasedMember>,
    after: Record<string, ReleasedMember>,
    version = 2,
  ) => findBreaks(schema(before), schema(after, version));

  test('that adds a member or a word is allowed, with the next version', () => {
    expect(breaks({ '/a': text }, { '/a': text, '/b': { ...text, isRequired: false } })).toEqual([]);
    expect(breaks({ '/a': words('x') }, { '/a': words('x', 'y') })).toEqual([]);
    const inside = { '/a': text, '/b': { ...text, isRequired: false }, '/b/c': text };
    expect(breaks({ '/a': text }, inside)).toEqual([]);
    expect(breaks({ '/a': text }, { '/a': text }, 1)).toEqual([]);
  });

  test.each<[string, Record<string, ReleasedMember>, Record<string, ReleasedMember>, number, string]>([
    ['takes a member', { '/a': text }, {}, 2, '/a is gone'],
    [
      'changes a type',
      { '/a': text },
      { '/a': { ...text, type: 'integer' } },
      2,
      '/a was string, and is integer',
    ],
    [
      'makes a member optional',
      { '/a': text },
      { '/a': { ...text, isRequired: false } },
      2,
      '/a is optional',
    ],
    ['adds what is always there', {}, { '/a': text }, 2, '/a is new, and not optional'],
    ['takes a word', { '/a': words('x', 'y') }, { '/a': words('y') }, 2, '/a is never x'],
    ['closes a list of words', { '/a': text }, { '/a': words('x') }, 2, '/a has only some words'],
    ['keeps the version', {}, { '/a': { ...text, isRequired: false } }, 1, ' has the version 1'],
    ['raises the version without need', { '/a': text }, { '/a': text }, 2, ' has the version 2'],
  ])('that %s is found', (_what, before, after, version, expected) => {
    expect(breaks(before, after, version)).toEqual([`balance_low${expected}`]);
  });

  test('that takes a type is found', () => {
    expect(findBreaks(schema({}), {})).toEqual(['balance_low is gone']);
  });
});
