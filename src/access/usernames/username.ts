/**
 * Usernames: the profile UsernameCaseMapped of PRECIS.
 *
 * Source: RFC 8265, section 3.3, and RFC 8264, sections 7 and 8. Character data comes from committed tables,
 * so that every version of Node accepts the same names. `toLowerCase` and `normalize` are Node's own, but
 * they only see characters in the tables. For those, Unicode guarantees stable normal forms and case pairs.
 */
import { satisfiesBidiRule } from './bidi-rule.ts';
import { isIdentifier } from './identifier-class.ts';
import { WIDTH } from './tables.ts';

/** In code points, after mapping. In UTF-8 that is 256 bytes at most. */
export const USERNAME_MAX = 64;

/**
 * No text longer than this, in UTF-16 units, becomes a name of USERNAME_MAX code points: width and case
 * mappings never shorten a text, and NFC composes at most four code points into one. Refusing longer texts
 * unread keeps their cost constant.
 */
const TEXT_MAX = USERNAME_MAX * 4 * 2;

/** What the deployment does with a username that looks like that of another user in the room. */
export type ConfusableUsernames = 'allow' | 'refuse';

const ROUNDS_MAX = 3;

/** All of these are of the class, and none is wide, combines, or is written from right to left. So only their case is mapped. */
const PLAIN = new RegExp(`^[!-~]{1,${USERNAME_MAX}}$`);

/**
 * The prepared form of `text`, for comparison and display; `undefined` if it is not a username.
 *
 * Preparing a prepared name does not change it.
 */
export function prepareUsername(text: string): string | undefined {
  if (PLAIN.test(text)) return text.toLowerCase();
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
 * Applies the rules of the profile once, in order: the class is checked after width mapping and before case
 * mapping. The next round checks the result of case mapping and normalization.
 */
function enforce(text: string): string | undefined {
  let prepared = '';
  for (const character of text) prepared += WIDTH.get(character) ?? character;
  if (!isIdentifier(codePointsOf(prepared))) return undefined;
  const name = prepared.toLowerCase().normalize('NFC');
  return satisfiesBidiRule(codePointsOf(name)) ? name : undefined;
}

function hasUsernameLength(name: string): boolean {
  const length = codePointsOf(name).length;
  return length >= 1 && length <= USERNAME_MAX;
}

function codePointsOf(text: string): number[] {
  const codePoints: number[] = [];
  for (const character of text) codePoints.push(character.codePointAt(0)!);
  return codePoints;
}
