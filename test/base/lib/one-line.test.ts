import { expect, test } from 'vitest';
import { parseLine } from '../../../src/base/lib/one-line.ts';

test.each([
  ['  a gift ', 'a gift'],
  [
    '\u{1f389}\u{1f389}\u{1f389}\u{1f389}\u{1f389}\u{1f389}',
    '\u{1f389}\u{1f389}\u{1f389}\u{1f389}\u{1f389}\u{1f389}',
  ],
  ['1234567', undefined],
  ['', undefined],
  ['   ', undefined],
  ['a\nb', undefined],
  ['a\u0000b', undefined],
  ['a\u0085b', undefined],
])('%j is %j', (text, line) => {
  expect(parseLine(text, 6)).toBe(line);
});
