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
  // Line separators, and marks that turn what follows the other way.
  ['a\u2028b', undefined],
  ['a\u202eb', undefined],
  ['a\u2067b', undefined],
  // A name of a right-to-left language, with a mark that names need.
  ['\u05d0\u200f.', '\u05d0\u200f.'],
])('%j is %j', (text, line) => {
  expect(parseLine(text, 6)).toBe(line);
});
