/**
 * Usernames: the profile UsernameCaseMapped of PRECIS.
 *
 * Source: RFC 8265, section 3.3, and RFC 8264, sections 7 and 8. Which characters exist, and what they
 * are, comes from committed tables, so that the same names are accepted whatever Node runs us.
 * `toLowerCase` and `normalize` are Node's own, but they only ever see characters that the tables know.
 * For those, Unicode promises that normal forms and pairs of upper and lower case stay as they are.
 */
import { satisfiesBidiRule } from './bidi-rule.ts';
import { isIdentifier } from './identifier-class.ts';
import { WIDTH } from './tables.ts';

/** In code points, after mapping. In UTF-8 that is 256 bytes at most. */
export const USERNAME_MAX = 64;

/**
 * No text longer than this, in UTF-16 units, becomes a name of USERNAME_MAX code points: mappings of
 * width and case never shorten a text, and what NFC makes one code point of was at most four. To refuse
 * it unread keeps the cost of a long text constant.
 */
const TEXT_MAX = USERNAME_MAX * 4 * 2;

/** What the deployment does with a username that looks like that of another user in the room. */
export type ConfusableUsernames = 'allow' | 'refuse';

const ROUNDS_MAX = 3;

/**
 * The name that `text` stands for, ready to be compared and shown; `undefined` where it is no username.
 *
 * A name that is prepared again stays as it is.
 */
export function prepareUsername(text: string): string | undefined {
  if (text.length > TEXT_MAX) return undefined;
  let name = enforce(text);
  for (let round = 0; round < ROUNDS_MAX && name !== undefined; round += 1) {
    const again = enforce(name);
    if (again === name) return hasUsernameLength(name) ? name : undefined;
    name = again;
  }
  return undefined;
}

/**
 * The rules of the profile, once and in its order: the class is checked after the width is mapped and
 * before the case is. What case and normal form make of a name is checked by the next round.
 */
function enforce(text: string): string | undefined {
  const prepared = Array.from(text, (character) => WIDTH.get(character) ?? character);
  if (!isIdentifier(codePointsOf(prepared))) return undefined;
  const name = prepared.join('').toLowerCase().normalize('NFC');
  return satisfiesBidiRule(codePointsOf(name)) ? name : undefined;
}

function hasUsernameLength(name: string): boolean {
  const length = codePointsOf(name).length;
  return length >= 1 && length <= USERNAME_MAX;
}

function codePointsOf(characters: Iterable<string>): number[] {
  return Array.from(characters, (character) => character.codePointAt(0)!);
}
