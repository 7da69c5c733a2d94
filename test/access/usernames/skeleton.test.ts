import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { skeleton } from '../../../src/access/usernames/skeleton.ts';
import { prepareUsername } from '../../../src/access/usernames/username.ts';
import { anyCharacter } from '../../support/characters.ts';

describe('skeleton', () => {
  it.each([
    ['paypal', 'p\u0430ypal', 'a Cyrillic a'],
    ['paypal', '\u0440\u0430\u0443\u0440\u0430l', 'Cyrillic but for the l'],
    ['scope', '\u0455\u0441\u043e\u0440\u0435', 'Cyrillic as a whole'],
    ['modern', 'modem', 'r and n beside each other'],
    ['corner', 'comer', 'r and n within'],
    ['omicron', '\u03bfmicron', 'Greek omicron'],
    ['\u03bf\u043e', 'oo', 'Greek and Cyrillic'],
    ['ivan', 'iv\u0251n', 'Latin alpha'],
    ['l1n\u0435', 'llne', 'one and l'],
    ['caf\u00e9', 'cafe\u0301', 'normal forms'],
    ['ab', 'a\u200bb', 'a zero width space'],
    ['ab', 'a\u00adb', 'a soft hyphen'],
    ['\u{1d429}\u{1d42e}\u{1d42b}\u{1d41e}', 'pure', 'mathematical letters'],
  ])('is the same for %j and %j: %s', (one, other) => {
    expect(skeleton(one)).toBe(skeleton(other));
  });

  it.each([
    ['paypal', 'paypa'],
    ['bob', 'rob'],
    ['anna', 'hanna'],
    ['\u4e00', '\u4e8c'],
    ['fussball', 'fu\u00dfball'],
  ])('differs for %j and %j', (one, other) => {
    expect(skeleton(one)).not.toBe(skeleton(other));
  });

  it.each([
    ['m', 'rn'],
    ['1', 'l'],
    ['0', 'O'],
    ['"', "''"],
    ['\u0430', 'a'],
    ['\u03c1', 'p'],
    ['\u00e7', 'c\u0326'],
    ['\u0133', 'ij'],
    ['\u{118e3}', 'rn'],
    ['\u200b', ''],
    ['', ''],
  ])('of %j is %j', (name, expected) => {
    expect(skeleton(name)).toBe(expected);
  });

  it('is its own skeleton for ASCII', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme-ascii' }), (name) => {
        expect(skeleton(skeleton(name))).toBe(skeleton(name));
      }),
    );
  });

  it('is its own skeleton for each character of a username but one', () => {
    // UTS #39 replaces once. Only this replacement contains a character with a prototype of its own.
    const others: string[] = [];
    for (let codePoint = 0; codePoint <= 0x10ffff; codePoint += 1) {
      const name = prepareUsername(String.fromCodePoint(codePoint));
      if (name === undefined) continue;
      const once = skeleton(name);
      if (skeleton(once) !== once) others.push(name);
    }
    expect([...new Set(others)]).toEqual(['\u048b']);
  });

  it('does not depend on the normal form of the name', () => {
    fc.assert(
      fc.property(fc.string({ unit: anyCharacter }), (name) => {
        expect(skeleton(name.normalize('NFD'))).toBe(skeleton(name));
        expect(skeleton(name.normalize('NFC'))).toBe(skeleton(name));
      }),
    );
  });
});
