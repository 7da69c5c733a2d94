import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { prepareUsername, USERNAME_MAX } from '../../../src/access/usernames/username.ts';
import { anyCharacter } from '../../support/characters.ts';

const ACCEPTED: readonly [input: string, name: string, why: string][] = [
  // RFC 8265, section 3.5, table 1
  ['juliet@example.com', 'juliet@example.com', 'the at sign is of the class'],
  ['fussball', 'fussball', 'ASCII'],
  ['fu\u00dfball', 'fu\u00dfball', 'sharp s stays, and differs from ss'],
  ['\u03c0', '\u03c0', 'Greek pi'],
  ['\u03a3', '\u03c3', 'capital sigma'],
  ['\u03c3', '\u03c3', 'sigma'],
  ['\u03c2', '\u03c2', 'final sigma stays'],
  // ASCII
  ['!', '!', 'the first printable character'],
  ['~', '~', 'the last printable character'],
  ['42', '42', 'digits alone'],
  ['XxXxX', 'xxxxx', 'capitals'],
  // case
  ['\u039f\u0394\u039f\u03a3', '\u03bf\u03b4\u03bf\u03c2', 'capital sigma at the end of a word'],
  ['\u0130', 'i\u0307', 'capital I with a dot'],
  ['\u0131', '\u0131', 'dotless i'],
  ['STRA\u1e9eE', 'stra\u00dfe', 'capital sharp s'],
  ['\u13a0\u13f0', '\uab70\u13f8', 'Cherokee'],
  ['\u10a0\u1c90', '\u2d00\u10d0', 'Georgian'],
  ['\u{10400}', '\u{10428}', 'Deseret'],
  ['\u0410', '\u0430', 'a Cyrillic A is not made a Latin one'],
  ['\u03b0', '\u03b0', 'a small letter with a capital of several characters'],
  // normal form
  ['A\u030a', '\u00e5', 'a ring that is written apart'],
  ['\u00c5', '\u00e5', 'a ring that is not'],
  ['c\u0327', '\u00e7', 'a cedilla'],
  ['R\u030c', '\u0159', 'a caron'],
  ['e\u0301\u031f', '\u00e9\u031f', 'two marks, of which one composes'],
  ['q\u0307\u0323', 'q\u0323\u0307', 'two marks in the other order'],
  ['\u1e61', '\u1e61', 's with a dot'],
  ['\uac00', '\uac00', 'a Hangul syllable'],
  // width
  ['\uff21\uff22\uff11\uff01', 'ab1!', 'fullwidth'],
  ['\uff76\uff9e', '\u30ac', 'halfwidth katakana with its mark'],
  // exceptions
  ['\u06fd', '\u06fd', 'Arabic sign Sindhi ampersand'],
  ['\u06fe', '\u06fe', 'Arabic sign Sindhi postposition men'],
  ['\u0f0b', '\u0f0b', 'Tibetan mark intersyllabic tsheg'],
  ['\u3007', '\u3007', 'ideographic number zero'],
];

const REFUSED: readonly [input: string, why: string][] = [
  // RFC 8265, section 3.5, table 2
  ['foo bar', 'a space'],
  ['', 'nothing'],
  ['henry\u2163', 'a Roman numeral'],
  ['\u221e', 'infinity'],
  // one or two from each category that RFC 8264 refuses
  ['\u265a', 'a symbol'],
  ['\u{1f600}', 'an emoji'],
  ['\u00a3', 'a currency sign'],
  ['\u2019', 'punctuation'],
  ['\u00a0', 'a space that does not break'],
  ['\u3000', 'an ideographic space, which is a wide space'],
  ['\u1680', 'Ogham space mark'],
  ['\t', 'a control'],
  ['a\nb', 'a line feed'],
  ['a\0', 'zero'],
  ['\u007f', 'delete'],
  ['\u0085', 'a control beyond ASCII'],
  ['\u00b2', 'superscript two'],
  ['\ufb00', 'a ligature'],
  ['\u01c5', 'a titlecase digraph'],
  ['\u1f88', 'a titlecase letter'],
  ['\u03d2', 'upsilon with hook'],
  ['\u017f', 'long s'],
  ['\u212b', 'the Angstrom sign, whose class is asked before its normal form'],
  ['\u16ee', 'a letter number'],
  ['\u0488', 'an enclosing mark'],
  ['\u1100', 'an initial jamo'],
  ['\u1161', 'a medial jamo'],
  ['\u11a8', 'a final jamo'],
  ['\uffa1', 'a halfwidth jamo'],
  ['\uffe3', 'a fullwidth macron, whose mapping is refused'],
  ['a\u00ad', 'soft hyphen'],
  ['a\u200b', 'zero width space'],
  ['a\u2060', 'word joiner'],
  ['a\ufe0f', 'a variation selector'],
  ['a\u034f', 'combining grapheme joiner'],
  ['\u115f', 'Hangul filler'],
  ['\u202ea', 'right-to-left override'],
  ['\u2066a\u2069', 'isolates'],
  ['\u200ea', 'left-to-right mark'],
  ['a\u{e0061}', 'a tag'],
  ['\ufeffa', 'a byte order mark'],
  ['\ufffd', 'the replacement character'],
  ['\ufdd0', 'a noncharacter'],
  ['\u{10ffff}', 'the last noncharacter'],
  ['\ue000', 'private use'],
  ['\u0378', 'unassigned'],
  ['\ud800', 'half a surrogate pair, the first'],
  ['a\udc00', 'half a surrogate pair, the second'],
  ['\udc00\ud800', 'surrogates in the wrong order'],
  // exceptions
  ['\u0628\u0640', 'Arabic tatweel'],
  ['\u07fa', 'Nko lajanyalan'],
  ['a\u302e', 'Hangul tone mark, single dot'],
  ['a\u302f', 'Hangul tone mark, double dot'],
  ['\u3031', 'vertical kana repeat mark'],
  ['\u3035', 'its lower half'],
  ['\u303b', 'vertical ideographic iteration mark'],
  // allowed characters that compose to a symbol
  ['a<\u0338', 'not less than'],
  ['=\u0338', 'not equal'],
];

describe('prepareUsername', () => {
  it.each(ACCEPTED)('makes %j %j: %s', (input, name) => {
    expect(prepareUsername(input)).toBe(name);
  });

  it.each(REFUSED)('refuses %j: %s', (input) => {
    expect(prepareUsername(input)).toBeUndefined();
  });

  it('counts code points, after mapping', () => {
    const most = (character: string) => character.repeat(USERNAME_MAX);
    expect(prepareUsername(most('a'))).toBe(most('a'));
    expect(prepareUsername(`${most('a')}a`)).toBeUndefined();
    expect(prepareUsername(most('\u{10428}'))).toBe(most('\u{10428}'));
    expect(prepareUsername(`${most('\u{10428}')}a`)).toBeUndefined();
    expect(prepareUsername(most('e\u0301'))).toBe(most('\u00e9'));
    expect(prepareUsername(most('\u03b1\u0313\u0300\u0345'))).toBe(most('\u1f82'));
    expect(prepareUsername(`${most('\u03b1\u0313\u0300\u0345')}a`)).toBeUndefined();
    // Each capital I with a dot becomes two code points in lower case.
    expect(prepareUsername('\u0130'.repeat(USERNAME_MAX / 2))).toHaveLength(USERNAME_MAX);
    expect(prepareUsername('\u0130'.repeat(USERNAME_MAX - 4))).toBeUndefined();
  });

  it('refuses long texts of every kind', () => {
    for (const part of [
      'a',
      'a\u0301\u0323',
      '\u30fb\u30a2',
      '\u0628\u0610\u200c',
      '\u0660',
      '\ud800',
      '\uff76',
    ]) {
      expect(prepareUsername(part.repeat(4096 / part.length))).toBeUndefined();
    }
  });

  it('composes at most four code points into one', () => {
    for (let codePoint = 0; codePoint <= 0x10ffff; codePoint += 1) {
      const apart = String.fromCodePoint(codePoint).normalize('NFD');
      if (apart.length > 4 && Array.from(apart).length > 4) expect.fail(`U+${codePoint.toString(16)}`);
    }
  });
});

/** Texts of characters that interact in some rule, and of arbitrary characters. */
const texts = fc.oneof(
  fc.string({ unit: anyCharacter, maxLength: 12 }),
  ...[
    ['l', 'L', '\u00b7', '\u0375', '\u03b1', '\u0391', '\u03a3', '\u03c3', '\u0345', '\u0301', '\u0313'],
    ['\u30fb', '\uff65', '\uff76', '\uff9e', '\u30a2', '\u4e00', 'a', '\uff21'],
    ['\u05d0', '\u05f3', '\u05b0', '\u0627', '\u0628', '\u0660', '\u06f0', '1', '.', '-', '\u0300'],
    ['\u200c', '\u200d', '\u0915', '\u094d', '\u0628', '\u0610', '\ua872', '\u0627'],
    ['I', 'i', '\u0130', '\u0307', '\u0323', '\u0338', '<', '=', '>', '\u1e9e', '\u00df', 'J', '\u030c'],
    ['\u13a0', '\uab70', '\u13f8', '\u10a0', '\u1c90', '\uac00', '\u11a8', '\u1100', '\u1161'],
  ].map((units) => fc.string({ unit: fc.constantFrom(...units), maxLength: 8 })),
);

describe('a prepared name', () => {
  it('does not change when it is prepared again', () => {
    fc.assert(
      fc.property(texts, (text) => {
        const name = prepareUsername(text);
        return name === undefined || prepareUsername(name) === name;
      }),
      { numRuns: 20_000 },
    );
  });

  it('is within its bounds, lower-case, composed, and without wide characters', () => {
    fc.assert(
      fc.property(texts, (text) => {
        const name = prepareUsername(text);
        if (name === undefined) return;
        const isRight =
          name !== '' &&
          Array.from(name).length <= USERNAME_MAX &&
          Buffer.byteLength(name) <= 256 &&
          name.toLowerCase() === name &&
          name.normalize('NFKC') === name;
        if (!isRight) expect.fail(`${JSON.stringify(text)} became ${JSON.stringify(name)}`);
      }),
      { numRuns: 20_000 },
    );
  });

  it('does not change for any single character', () => {
    const changed: string[] = [];
    let accepted = 0;
    for (let codePoint = 0; codePoint <= 0x10ffff; codePoint += 1) {
      const name = prepareUsername(String.fromCodePoint(codePoint));
      if (name === undefined) continue;
      accepted += 1;
      if (prepareUsername(name) !== name) changed.push(codePoint.toString(16));
    }
    expect(changed).toEqual([]);
    expect(accepted).toBe(144_857);
  });

  it('is the same for upper and lower case and every normal form of its source', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom(...'aZ09._-é\u00df\u0439\u0419\u3042\u4e2d'), maxLength: 20 }),
        (text) => {
          const name = prepareUsername(text);
          expect(prepareUsername(text.toLowerCase())).toBe(name);
          expect(prepareUsername(text.normalize('NFD'))).toBe(name);
          expect(prepareUsername(text.normalize('NFC'))).toBe(name);
        },
      ),
    );
  });

  it('is the same for ASCII alone, which takes a shorter way, as beside another letter', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'grapheme-ascii', minLength: 1, maxLength: USERNAME_MAX - 1 }),
        (text) => {
          const name = prepareUsername(text);
          expect(prepareUsername(`${text}\u03c0`)).toBe(name && `${name}\u03c0`);
        },
      ),
    );
  });
});
