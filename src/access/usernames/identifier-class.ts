/**
 * The identifier class of PRECIS: which characters a username may contain, and in which context.
 *
 * Source: RFC 8264, sections 4.2 and 8; RFC 5892, appendix A, for the contextual rules.
 */
import {
  GREEK,
  HAN_OR_KANA,
  HEBREW,
  JOINS_NEXT,
  JOINS_PREVIOUS,
  TRANSPARENT,
  VALID,
  VIRAMA,
} from './tables.ts';

const SMALL_L = 0x6c;
const MIDDLE_DOT = 0xb7;
const GREEK_LOWER_NUMERAL_SIGN = 0x375;
const HEBREW_GERESH = 0x5f3;
const HEBREW_GERSHAYIM = 0x5f4;
const ZERO_WIDTH_NON_JOINER = 0x200c;
const ZERO_WIDTH_JOINER = 0x200d;
const KATAKANA_MIDDLE_DOT = 0x30fb;

/** Whether every one of these code points is allowed where it stands. */
export function isIdentifier(codePoints: readonly number[]): boolean {
  return (
    codePoints.every((codePoint, place) => VALID.has(codePoint) || contextAllows(codePoints, place)) &&
    allowsKatakanaMiddleDot(codePoints) &&
    hasOneKindOfArabicDigits(codePoints)
  );
}

function contextAllows(codePoints: readonly number[], place: number): boolean {
  const codePoint = codePoints[place]!;
  switch (codePoint) {
    case ZERO_WIDTH_NON_JOINER:
      return VIRAMA.has(codePoints[place - 1]) || breaksConnection(codePoints, place);
    case ZERO_WIDTH_JOINER:
      return VIRAMA.has(codePoints[place - 1]);
    case MIDDLE_DOT:
      return codePoints[place - 1] === SMALL_L && codePoints[place + 1] === SMALL_L;
    case GREEK_LOWER_NUMERAL_SIGN:
      return GREEK.has(codePoints[place + 1]);
    case HEBREW_GERESH:
    case HEBREW_GERSHAYIM:
      return HEBREW.has(codePoints[place - 1]);
    default:
      // Their rules concern the whole string, which is checked once and not per character.
      return (
        codePoint === KATAKANA_MIDDLE_DOT ||
        isArabicIndicDigit(codePoint) ||
        isExtendedArabicIndicDigit(codePoint)
      );
  }
}

/** Whether the letters around a place would join without it. Transparent characters are skipped. */
function breaksConnection(codePoints: readonly number[], place: number): boolean {
  let before = place - 1;
  while (TRANSPARENT.has(codePoints[before])) before -= 1;
  let after = place + 1;
  while (TRANSPARENT.has(codePoints[after])) after += 1;
  return JOINS_NEXT.has(codePoints[before]) && JOINS_PREVIOUS.has(codePoints[after]);
}

function allowsKatakanaMiddleDot(codePoints: readonly number[]): boolean {
  return (
    !codePoints.includes(KATAKANA_MIDDLE_DOT) || codePoints.some((codePoint) => HAN_OR_KANA.has(codePoint))
  );
}

function hasOneKindOfArabicDigits(codePoints: readonly number[]): boolean {
  return !(codePoints.some(isArabicIndicDigit) && codePoints.some(isExtendedArabicIndicDigit));
}

function isArabicIndicDigit(codePoint: number): boolean {
  return codePoint >= 0x660 && codePoint <= 0x669;
}

function isExtendedArabicIndicDigit(codePoint: number): boolean {
  return codePoint >= 0x6f0 && codePoint <= 0x6f9;
}
