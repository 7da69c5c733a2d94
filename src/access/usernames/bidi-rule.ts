/**
 * The bidi rule: a name with right-to-left characters reads the same wherever it is shown.
 *
 * Source: RFC 5893, section 2, whose six conditions are numbered below. RFC 8265 applies it only to
 * names with a character of the class R, AL or AN. Such a name cannot be a left-to-right one (5, 6),
 * so it has to begin with R or AL.
 */
import { BIDI_AN, BIDI_EN, BIDI_NEUTRAL, BIDI_NSM, BIDI_R_AL } from './tables.ts';

/** Whether these code points, all of the identifier class, satisfy the rule. */
export function satisfiesBidiRule(codePoints: readonly number[]): boolean {
  const has = (set: { has(codePoint: number): boolean }) =>
    codePoints.some((codePoint) => set.has(codePoint));
  if (!has(BIDI_R_AL) && !has(BIDI_AN)) return true;

  const last = codePoints.findLast((codePoint) => !BIDI_NSM.has(codePoint));
  return (
    BIDI_R_AL.has(codePoints[0]) && // 1
    codePoints.every(isRightToLeftOrNeutral) && // 2
    (BIDI_R_AL.has(last) || BIDI_EN.has(last) || BIDI_AN.has(last)) && // 3
    !(has(BIDI_EN) && has(BIDI_AN)) // 4
  );
}

function isRightToLeftOrNeutral(codePoint: number): boolean {
  return [BIDI_R_AL, BIDI_AN, BIDI_EN, BIDI_NSM, BIDI_NEUTRAL].some((set) => set.has(codePoint));
}
