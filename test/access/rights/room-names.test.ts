import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { matchesRoom, mayJoinRoom, ROOM_NAME_PATTERN } from '../../../src/access/rights/room-names.ts';

describe('matchesRoom', () => {
  test.each([
    ['lobby', 'lobby', true],
    ['lobby', 'Lobby', false],
    ['lobby', 'lobby2', false],
    ['*', 'anything', true],
    ['**', 'a', true],
    ['demo-*', 'demo-', true],
    ['demo-*', 'demo-1', true],
    ['demo-*', 'xdemo-1', false],
    ['*-hall', 'b-hall', true],
    ['*-hall', '-hall', true],
    ['*-hall', 'b-hall-2', false],
    ['a*a', 'a', false],
    ['a*a', 'aa', true],
    ['ab*ba', 'aba', false],
    ['a*b*c', 'abc', true],
    ['a*b*c', 'a1b2c', true],
    ['a*b*c', 'a1c2b', false],
    ['*a*a*', 'ba', false],
    ['a.c', 'abc', false],
  ])('%s, %s: %s', (pattern, name, expected) => {
    expect(matchesRoom(pattern, name)).toBe(expected);
  });

  const letters = fc.string({ unit: fc.constantFrom('a', 'b', '*'), maxLength: 8 });
  const names = fc.string({ unit: fc.constantFrom('a', 'b'), maxLength: 12 });

  test('agrees with a regular expression', () => {
    fc.assert(
      fc.property(letters, names, (pattern, name) => {
        const expected = new RegExp(`^${pattern.replaceAll('*', '.*')}$`).test(name);
        expect(matchesRoom(pattern, name)).toBe(expected);
      }),
      { numRuns: 2000 },
    );
  });

  test('is not slowed down by a malicious pattern', () => {
    const started = performance.now();
    for (let times = 0; times < 1000; times += 1) matchesRoom(`${'a*'.repeat(63)}b`, 'a'.repeat(128));
    expect(performance.now() - started).toBeLessThan(10_000);
  });
});

describe('mayJoinRoom', () => {
  test.each([
    [null, true],
    [['x'], false],
    [['x', 'lob*'], true],
    [[], false],
  ])('%j: %s', (patterns, expected) => {
    expect(mayJoinRoom(patterns, 'lobby')).toBe(expected);
  });
});

test('a room name starts with a letter or a digit', () => {
  const isName = (text: string) => new RegExp(ROOM_NAME_PATTERN).test(text);
  expect(['a', '9', 'a.b_c-D', 'a'.repeat(128)].filter(isName)).toHaveLength(4);
  expect(['', '.', '-a', '_', 'a b', 'a*', 'a'.repeat(129), 'é'].filter(isName)).toHaveLength(0);
});
