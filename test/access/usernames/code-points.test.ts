import { describe, expect, it } from 'vitest';
import { CodePointSet, readMapping } from '../../../src/access/usernames/code-points.ts';

describe('CodePointSet', () => {
  const set = new CodePointSet('\n21-23 30\n40-41 10ffff\n');

  it.each([0x21, 0x22, 0x23, 0x30, 0x40, 0x41, 0x10ffff])('has %i', (codePoint) => {
    expect(set.has(codePoint)).toBe(true);
  });

  it.each([-1, 0, 0x20, 0x24, 0x2f, 0x31, 0x3f, 0x42, 0x10fffe, 0x110000, undefined])(
    'has no %s',
    (codePoint) => {
      expect(set.has(codePoint)).toBe(false);
    },
  );
});

it('readMapping reads one or several code points for each source', () => {
  expect([...readMapping('\n61=ff21,1d400 72.6e=6d\n')]).toEqual([
    ['\uff21', 'a'],
    ['\u{1d400}', 'a'],
    ['m', 'rn'],
  ]);
});
