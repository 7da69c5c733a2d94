import { describe, expect, it } from 'vitest';
import { isIdentifier } from '../../../src/access/usernames/identifier-class.ts';
import { UNICODE_VERSION } from '../../../src/access/usernames/tables.ts';

function allows(text: string): boolean {
  return isIdentifier([...text].map((character) => character.codePointAt(0)!));
}

/** The rules of RFC 5892, appendix A, each with texts that it allows and texts that it refuses. */
const RULES: readonly [rule: string, allowed: readonly string[], refused: readonly string[]][] = [
  [
    'A.1, zero width non-joiner after a virama',
    ['\u0a4d\u200c', '\ua872\u0a4d\u200c', '\u0915\u094d\u200c\u0937', '\u0acd\u200c', 'a\u094d\u200ca'],
    ['\u200c', '\u200ca', 'a\u200c', 'a\u200cb', '\ua872\u0a4d\u0610\u200c', '\ua872\u0acd\u0610\u200c'],
  ],
  [
    'A.1, zero width non-joiner between letters that would join',
    [
      '\u062c\u200c\u0627',
      '\u062c\u0610\u200c\u0627',
      '\u062c\u200c\u0610\u0627',
      '\u062c\u0610\u0610\u200c\u0610\u0610\u0627',
      '\ua872\u200c\u062c',
      '\ua872\u0610\u200c\u0610\u062c',
      '\ua872\u200c\u0acd\u062c',
      '\u0628\u200c\u0628\u200c\u0628',
    ],
    [
      '\u200c\u0627',
      '\u062c\u200c',
      '\u0627\u200c\u062c',
      '\u062c\u200c\ua872',
      '\u0610\u200c\u0610\u0627',
      '\u062c\u0610\u200c\u0610',
      '\u062c\u200c\u200c\u0627',
    ],
  ],
  [
    'A.2, zero width joiner after a virama',
    ['\u0a4d\u200d', '\ua872\u0a4d\u200d', '\u0d28\u0d4d\u200d'],
    ['\u200d', '\u200da', 'a\u200d', '\u0a4da\u200d', '\u062c\u200d\u0627', '\u0a4d\u200d\u200d'],
  ],
  [
    'A.3, middle dot between two small l',
    ['l\u00b7l', 'al\u00b7la', 'l\u00b7l\u00b7l'],
    [
      '\u00b7',
      'l\u00b7',
      '\u00b7l',
      'a\u00b7',
      'l\u00b7a',
      'a\u00b7l',
      'a\u00b7a',
      'l\u00b7\u00b7l',
      'L\u00b7L',
    ],
  ],
  [
    'A.4, Greek lower numeral sign before Greek',
    ['\u0375\u03b1', '\u03b1\u0375\u03b1', '\u0375\u0375\u03b1', '\u03b1\u0375\u0375\u03b1'],
    ['\u0375', '\u0375a', '\u03b1\u0375', '\u03b1\u0375\u0375', '\u03b1\u0375\u0375a', '\u0375\u0430'],
  ],
  [
    'A.5, geresh after Hebrew',
    ['\u05e9\u05f3', '\u05e9\u05f3\u05f3\u05f3', '\u05d0\u05f3\u05d1'],
    ['\u05f3', '\u05f3\u05d4', 'a\u05f3b', '\u0627\u05f3'],
  ],
  [
    'A.6, gershayim after Hebrew',
    ['\u05e9\u05f4', '\u05e9\u05f4\u05f4\u05f4', 'a\u05e9\u05f4\u05f4\u05f4'],
    ['\u05f4', '\u05f4\u05d4', 'a\u05f4b', '\u0627\u05f4'],
  ],
  [
    'A.7, katakana middle dot with Hiragana, Katakana or Han',
    ['a\u30c5c\u30fbdef', 'abc\u30fbd\u3076f', '\u4e00bc\u30fbdef', '\u30a2\u30fb\u30fb', '\u30fb\u4e00'],
    ['\u30fb', 'abc\u30fb', '\u30fbdef', 'abc\u30fbdef', '\u30fb\u30fb', '\u30fb\uac00'],
  ],
  [
    'A.8 and A.9, one kind of Arabic-Indic digits',
    ['\u0661\u0662\u0663', '\u06f1\u06f2\u06f3', 'a\u0660', 'a\u06f9', '1\u0669', '1\u06f0'],
    ['\u0661\u0662\u06f6', '\u06f1\u06f2\u0666', '\u0660a\u06f9', '\u06f0a\u0669'],
  ],
];

describe.each(RULES)('%s', (_rule, allowed, refused) => {
  it.each(allowed)('allows %j', (text) => {
    expect(allows(text)).toBe(true);
  });

  it.each(refused)('refuses %j', (text) => {
    expect(allows(text)).toBe(false);
  });
});

describe('the identifier class', () => {
  it.each([...'Aa0!~\u00df\u3007'])('has %j', (character) => {
    expect(allows(character)).toBe(true);
  });

  it.each([...' \u2150\u2100\u2200\u3164\u2190\u2600\u303b\u1e9b'])('has no %j', (character) => {
    expect(allows(character)).toBe(false);
  });

  it('knows the characters of its own version of Unicode, and no later ones', () => {
    expect(UNICODE_VERSION).toBe('17.0.0');
    expect(allows('\u{323b0}')).toBe(true); // CJK extension J, new in 17.0
    expect(allows('\u{3347a}')).toBe(false);
  });

  it('needs a Node whose Unicode is no older', () => {
    expect(Number(process.versions.unicode)).toBeGreaterThanOrEqual(Number.parseFloat(UNICODE_VERSION));
  });

  // A newer Node may know more characters, so the comparison would fail.
  it.runIf(process.versions.unicode === '17.0')('agrees with Node about each character', () => {
    const exceptions = /[\u00df\u03c2\u06fd\u06fe\u0f0b\u3007]/;
    const refused = /[\u0640\u07fa\u302e\u302f\u3031-\u3035\u303b]/;
    const letterDigits = /[\p{Ll}\p{Lu}\p{Lo}\p{Nd}\p{Lm}\p{Mn}\p{Mc}]/u;
    const never = /[\p{Default_Ignorable_Code_Point}\u1100-\u11ff\ua960-\ua97c\ud7b0-\ud7c6\ud7cb-\ud7fb]/u;
    const digits = /[\u0660-\u0669\u06f0-\u06f9]/;
    const differing: string[] = [];
    for (let codePoint = 0; codePoint <= 0x10ffff; codePoint += 1) {
      const character = String.fromCodePoint(codePoint);
      const expected =
        exceptions.test(character) ||
        digits.test(character) ||
        /[!-~]/.test(character) ||
        (letterDigits.test(character) &&
          !never.test(character) &&
          !refused.test(character) &&
          character.normalize('NFKC') === character);
      if (allows(character) !== expected) differing.push(codePoint.toString(16));
    }
    expect(differing).toEqual([]);
  });
});
