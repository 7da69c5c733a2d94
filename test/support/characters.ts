/** Characters for generated texts: `fc.string({ unit: anyCharacter })`. */
import fc from 'fast-check';

const SURROGATES = 0xd800;
const SURROGATES_COUNT = 0x800;
const LAST = 0x10ffff;

/**
 * Any code point but surrogates, like fast-check's unit 'binary'. That one spends a second on a map of all
 * characters, in each process.
 */
export const anyCharacter = fc.nat(LAST - SURROGATES_COUNT).map(
  (place) => String.fromCodePoint(place < SURROGATES ? place : place + SURROGATES_COUNT),
  // fast-check takes an error for "not of this arbitrary".
  (text) => {
    const codePoint = (text as string).codePointAt(0)!;
    const isOne = String.fromCodePoint(codePoint) === text && text.isWellFormed();
    if (!isOne) throw new Error('not one character');
    return codePoint < SURROGATES ? codePoint : codePoint - SURROGATES_COUNT;
  },
);
